"""A webhook: one POST of JSON, in the form of Slack, of Teams or of our own. Only the configured address is asked."""

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

import msgspec

from forensics.sinks.message import Message

SINK_ANSWER_S = 10.0  # chosen by hand: a receiver of alerts that needs longer is down


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is a failure: it would carry the message to an address that nobody configured."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Never follow."""
        return


def send(message: Message, setting: Mapping[str, Any]) -> None:
    """POST the message; raises if the answer is not a success. The key tells a receiver that it has this message already."""
    url = str(setting["url"])
    if not url.startswith(("https://", "http://")):
        raise ValueError("url must begin with https:// or http://")
    head = {"Content-Type": "application/json", "Idempotency-Key": message.id}
    request = urllib.request.Request(url, body(message, str(setting.get("form", "json"))), head)
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=SINK_ANSWER_S) as answer:
        answer.read(1 << 10)


def body(message: Message, form: str) -> bytes:
    """The message as `slack`, `teams` (an adaptive card) or `json` expects it."""
    if form == "slack":
        safe = message.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return json.dumps({"text": safe}).encode()
    if form == "teams":
        block = {"type": "TextBlock", "text": message.text, "wrap": True}
        card = {"type": "AdaptiveCard", "version": "1.4", "body": [block]}
        content = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
        return json.dumps({"type": "message", "attachments": [content]}).encode()
    return msgspec.json.encode(message)
