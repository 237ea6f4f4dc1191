"""`forensics serve`: a history as pages in the browser."""

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import HistoryPlace
from forensics.core.errors import UsageError
from forensics.history.remember import history_place

if TYPE_CHECKING:
    from forensics.adapters.web.pages import Known

DEFAULT_PORT = 8737  # chosen by hand: no well-known service uses it
INSTALL_SERVE = "pip install starlette uvicorn sqlalchemy"  # the packages of the extra


def serve(
    history: HistoryPlace = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = DEFAULT_PORT,
    host_name: Annotated[
        list[str] | None,
        typer.Option("--host-name", help="Also answer requests for this host name, such as that of a proxy; repeatable."),
    ] = None,
) -> None:
    """Show the history in a browser: an index of its incidents, and a page for each. Read-only.

    \b
    Examples:
      forensics serve
      forensics serve --history postgresql://reader@db/forensics --port 8800

    \b
    It listens on 127.0.0.1 and asks for no password: everybody who is logged in on this machine can read it. For a team put a
    proxy in front that asks who somebody is, and name it with --host-name if it passes its own name on.
    """
    from forensics.history.opening import open_to_read, without_password

    place = history_place(history)
    store = open_to_read(place)
    try:
        from forensics.adapters.web import server
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is not installed", advice=INSTALL_SERVE) from error
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is how a server ends, and interrupts nothing
    title = f"History of {without_password(place)}"
    try:
        server.serve(server.application(store, _known(), title, host_name or ()), port, _say_address)
    finally:
        store.close()


def _say_address(address: str) -> None:
    print(f"{address}   (Ctrl-C ends it)", flush=True)


def _known() -> "Known":
    from forensics import pipeline
    from forensics.adapters.web.pages import Known
    from forensics.cli.captured_runs import bundles_by_job
    from forensics.cli.output import capture_settings
    from forensics.database.kinds import kind_of
    from forensics.explain import explain

    capture_settings()
    knowledge = pipeline.database()
    return Known(
        kind=kind_of,
        remedies=lambda cause: (
            next((c.advice for c in explain(cause, knowledge).causes), ()) if cause in knowledge.causes else ()
        ),
        bundle=lambda job: bundles_by_job().get(job, ""),
    )
