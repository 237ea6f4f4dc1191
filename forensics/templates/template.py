"""The template of a line: without prefixes, and with variable parts replaced by their kind.

    2026-11-21 10:00:07 INFO saved /data/run7/model-0120.pt in 3.2 s  ->  saved <path>/model-<n>.pt in <n> s

Words are not replaced: two messages that differ in a word are different messages.
"""

import functools
import re

from forensics.core import lazy
from forensics.line_formats import parse_prefix

MAX_MESSAGE_CHARS = 400  # of a message; what stands behind tells the same message apart from nothing

BAR = lazy.regex(r"(?<=\|)[^\w|()\[\]{}<>]{2,}(?=\|)")  # of a progress bar, the part that grows
VARIABLE_PATTERN = lazy.regex(
    r"(?P<uuid>(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z]))"
    r"|(?P<url>(?<![a-z])[a-z][a-z0-9+.]{1,15}://[^'\"<>)\]]+)"
    r"|(?P<path>(?<![\w.:/])(?:~|[A-Za-z]:)?(?:[/\\][\w.+@%=,-]+){2,}[/\\]?)"
    r"|(?P<time>(?<!\d)\d{4}[-/]\d\d[-/]\d\d(?:T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|(?<![\w:])\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?(?![\w:]))"
    r"|(?P<address>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])"
    r"|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,8}[0-9a-fA-F:]{0,40}[0-9a-fA-F](?:\.\d)?(?![\w:]))"
    r"|(?P<hex>\b0[xX][0-9a-fA-F]+|(?<![0-9A-Za-z])(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{6,}(?![0-9A-Za-z]))"
    r"|(?P<n>(?:(?<![\w.])[+-])?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?)"
)
VARYING = lazy.regex(r"[\d/\\]")  # one of these is in every word that varies
VARYING_WORD_PATTERN = lazy.regex(r"(?<!\S)[^\s\d/\\]*+[\d/\\]\S*")
MAX_CACHED_WORDS = 1 << 13  # a log has a few hundred forms of words that vary; a megabyte when full
FILE_NAME_PATTERN = lazy.regex(r"(?<![^/\\])[^/\\]{1,255}\.[A-Za-z]\w{0,4}\Z")
DIGITS_PATTERN = lazy.regex(r"\d+")


def template(text: str) -> str:
    """The template of a line; empty for a line without a word or a number, such as `-----` or `^^^^`."""
    message = parse_prefix(text).message[:MAX_MESSAGE_CHARS]
    if "|" in message:
        message = BAR.sub("<bar>", message)
    made = " ".join(message.split())
    if VARYING.search(made):
        made = VARYING_WORD_PATTERN.sub(lambda word: _word_template(word[0]), made)
    return made if any(map(str.isalnum, made)) else ""


@functools.lru_cache(maxsize=MAX_CACHED_WORDS)
def _word_template(word: str) -> str:
    return "<n>" if word.isdecimal() else VARIABLE_PATTERN.sub(_kind, word)


def _kind(found: re.Match[str]) -> str:
    kind = str(found.lastgroup)
    if kind == "path" and (name := FILE_NAME_PATTERN.search(found[0])):  # the file name is kept: it may be the module that logs
        return f"<path>/{DIGITS_PATTERN.sub('<n>', name[0])}"
    return f"<{kind}>"
