"""A small ASGI application: a page, a handler that raises, one that is slow."""

import asyncio
import logging
from typing import Any

logging.basicConfig(level=logging.INFO)


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for _ in range(2):
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
        return
    if scope["path"] == "/fail":
        raise RuntimeError("a handler that raises")
    if scope["path"] == "/slow":
        await asyncio.sleep(5)
    status = 404 if scope["path"] == "/missing" else 200
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
