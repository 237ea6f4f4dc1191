"""`forensics tell [DIR]`: tell the configured sinks of a death, and deliver what waits for them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.core.errors import UsageError

if TYPE_CHECKING:
    from forensics.model import Report
    from forensics.sinks.spool import Spool

Bundle = Annotated[
    Path | None, typer.Argument(help="A bundle with its report; without one, only waiting messages are delivered.")
]
Trying = Annotated[str, typer.Option("--keep-trying", help="Keep trying for this long if a sink cannot be reached: 30s, 1h.")]


def tell(bundle: Bundle = None, keep_trying: Trying = "0s") -> None:
    """Send the reason of a death to the sinks in the section `tell` of the configuration, and deliver waiting messages.

    `forensics run` does this after a death. Exit status: 1 if something still waits.

    \b
    Examples:
      forensics tell
      forensics tell ~/.local/state/forensics/20261122-181534-python-4711
    """
    from forensics.config import GENERAL, config, seconds

    sinks = {name: dict(setting) for name, setting in config().tell}
    if not sinks:
        raise UsageError("no section tell in the configuration, so nothing is sent", advice="docs/tell.md shows one")
    general = sinks.pop(GENERAL, {})
    from forensics.sinks.spool import Spool, deliver

    spool = Spool(_spool_folder(general))
    if bundle is not None:
        _promise(_report_in(bundle), sinks, spool, general.get("names") != "false")
    faults = deliver(spool, sinks, seconds(keep_trying))
    for name, fault in faults.items():
        print(f"forensics: {name}: {fault}; it is kept in {spool.folder}", file=sys.stderr)
    if faults:
        raise typer.Exit(1)


def _spool_folder(general: Mapping[str, str]) -> Path:
    from forensics.capture.bundle import state_folder

    return Path(general["spool"]).expanduser() if general.get("spool") else Path(state_folder()).parent / "forensics-spool"


def _promise(report: "Report", sinks: Mapping[str, Mapping[str, str]], spool: "Spool", names: bool) -> None:
    from forensics.sinks.destinations import message_of

    message = message_of(report, names)
    for name in sinks:
        if not spool.put(name, message):
            print(f"forensics: {name}: too many messages are waiting already; this one is dropped", file=sys.stderr)


def _report_in(bundle: Path) -> "Report":
    import msgspec

    from forensics.report.document import read_report

    path = bundle / "report.json"
    try:
        return read_report(msgspec.json.decode(path.read_bytes()), str(path))
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"no report can be read there: {error}", str(path), "forensics why DIR --again writes it") from error
