"""A cause file to begin with, for a message of one's own; where its author has something to say, a `?` stands.

skeleton("storage.falcon", "E4711 ring lost", known=False)   ->   cause: storage.falcon ...
"""

import itertools
import json
import re

from forensics.core import lazy
from forensics.model import Line
from forensics.readers.base import parse_lines

# It varies from line to line, as in `shard 12`, `epoch=3,`, `3/40`, `12.5 s`; not in a name, a version, a path or a time.
VARYING_NUMBER = lazy.regex(r"(?:(?<![\w.:/-])|(?<=\d/))\d+(?P<part>\.\d+)?(?![\w-]|[.:]\d)")
CODE_BEFORE = lazy.regex(
    r"(?i)(?:error|code|errno|status|signal|exit|xid|http|rc)[\s:=#(\[]*\Z"
)  # what the number says is the message
BRACE = lazy.regex(r"[{}]")  # opens a part of a message; one of the line itself is left out with what follows it
CAUSE = """cause: {cause}
title: '?'                            # the headline: a short sentence without a full stop
means: '?'                            # what has happened where such a line stands
summary: []                           # sentences with parts of the message, such as 'It gave up after {{tries}} tries.'
"""
SIGNATURE = """signatures:
  - id: {name}
    weight: proof                     # proof: it alone decides; strong; hint
    ends: process                     # what has ended with it: process, job, machine, nothing
    message: {message}  # {{tries:int}} in place of a number that varies
    source: '?'                       # which program prints it
    examples:
      match:
        - text: {line}
      no_match:
        - {{text: '? a line like it', why: '? nothing has ended'}}
"""
REMEDY = """remedies:
  - do: '?'                           # what to do first
    who: user                         # or admin
    why: '?'
    commands: []
"""


def skeleton(cause: str, line: str, known: bool) -> str:
    """The file of `cause` with `line` as its message. `known`: there is such a cause, which needs a signature alone."""
    name = cause.partition(".")[2]
    text = parse_lines([Line(1, line)])[0].message.strip() or line.strip()  # time, host and level differ from line to line
    message = _with_numbers(BRACE.split(text)[0].strip() or text)
    quoted = (json.dumps(text, ensure_ascii=False) for text in (message, line.strip()))
    made = SIGNATURE.format(name=f"my_{name}", message=next(quoted), line=next(quoted))
    return f"cause: {cause}\n{made}" if known else f"{CAUSE.format(cause=cause)}{made}{REMEDY}"


def _with_numbers(message: str) -> str:
    """The message with a part in place of each number: `shard 12 of 40` -> `shard {n1:int} of {n2:int}`; `error 79` stays."""
    counted = itertools.count(1)

    def part(found: re.Match[str]) -> str:
        if CODE_BEFORE.search(message[: found.start()]):
            return found[0]
        return f"{{n{next(counted)}:{'number' if found['part'] else 'int'}}}"

    return VARYING_NUMBER.sub(part, message)
