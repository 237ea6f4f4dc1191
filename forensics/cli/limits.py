"""`forensics limits`: the limits on the input, and how to change them."""

from forensics.cli.output import write


def limits() -> None:
    """Print every limit in force: its name, its value, and what it bounds.

    A limit is changed by `limits: {files: 500000, document: 1 GiB}` in config.yaml or by FORENSICS_LIMIT_FILES=500000.
    """
    from forensics.config import config
    from forensics.core.limits import table

    rows = table(config().limits)
    names, values = (max(len(row[i]) for row in rows) for i in (0, 1))
    write("".join(f"{name:{names}}  {value:>{values}}  {what}\n" for name, value, what in rows), None)
