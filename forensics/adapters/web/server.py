"""The addresses of the pages, and the server. It listens on 127.0.0.1 only and answers only requests that read.

A request must name a host that is allowed (`Host:`): a page of another site that gives its own name this machine's address
gets no answer.
"""

import contextlib
import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from forensics.adapters.web.pages import Known, incident_report, index_page
from forensics.core.errors import UsageError, unexpected
from forensics.core.text import inert
from forensics.history.page import page as trend_page
from forensics.report import render

if TYPE_CHECKING:
    from forensics.history.store import Store

ADDRESS = "127.0.0.1"
OWN_NAMES = (ADDRESS, "localhost")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the rest of the policy stands in each page
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def application(store: "Store", known: Known, title: str, host_names: Sequence[str] = ()) -> Starlette:
    """The application. `host_names`: names besides this machine's own by which it may be asked, those of a proxy."""

    def index(request: Request) -> str:
        return inert(index_page(store, known, request.query_params, title))

    def incident(request: Request) -> str:
        return render(incident_report(store, known, request.path_params["identity"]), "html")

    def trends(_request: Request) -> str:
        return inert(trend_page(store, title, served=True))

    return Starlette(
        routes=[
            Route("/", _answering(index)),
            Route("/incident/{identity:int}", _answering(incident, unknown=404)),
            Route("/trends", _answering(trends)),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[*OWN_NAMES, *host_names], www_redirect=False)],
    )


def _answering(page: Callable[[Request], str], unknown: int = 400) -> Callable[[Request], Response]:
    """An endpoint that answers with a page, or with one line that says what is wrong. `unknown`: the status of that."""

    def answer(request: Request) -> Response:
        try:
            return HTMLResponse(page(request), headers=HEADERS)
        except UsageError as error:
            return PlainTextResponse(f"{error.what}\n", unknown, headers=HEADERS)
        except Exception as error:
            print(f"forensics: {request.url.path}: {unexpected(error)}", file=sys.stderr)
            return PlainTextResponse("this page could not be made\n", 500, headers=HEADERS)

    return answer


def serve(app: Starlette, port: int, started: Callable[[str], None]) -> None:
    """Answer requests until Ctrl-C. `port`: 0 takes a free one. `started` gets the address. UsageError if it is taken."""
    try:
        listening = socket.create_server((ADDRESS, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"port {port} cannot be listened on ({reason})", advice="--port 0 takes a free one") from error
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, proxy_headers=False)
    with listening, contextlib.suppress(KeyboardInterrupt):
        started(f"http://{ADDRESS}:{listening.getsockname()[1]}/")
        uvicorn.Server(config).run(sockets=[listening])
