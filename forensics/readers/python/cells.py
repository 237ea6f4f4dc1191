"""Names of files that stand for the cell of a notebook."""

from forensics.core import lazy

CELL_PATTERN = lazy.regex(r"Cell In ?\[(?P<number>\d+)\]")  # as Jupyter writes it: `Cell In[12], line 3`


def cell_number(file: str) -> str:
    """The execution count in the name of a file of a traceback, `Cell In[12]`; empty for any other file."""
    found = CELL_PATTERN.fullmatch(file)
    return str(found["number"]) if found else ""
