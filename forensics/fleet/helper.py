"""The process that analyses for one worker: cases on standard input, a JSON line each; reports on standard output.

{"name": "run7", "paths": ["incidents/run7"], "base": "/data"}   ->   16 hex digits (length), then the report's JSON

It has one thread, loads the knowledge once, and lives until its input ends or its worker ends it for a case that takes too much.
"""

import os
import sys
import tempfile
from pathlib import Path

import msgspec

from forensics import pipeline
from forensics.core.errors import ForensicsError, SourceError
from forensics.database import Database
from forensics.fleet.cases import Case, open_url
from forensics.model import Report, Warning
from forensics.report import render


class HelperRequest(msgspec.Struct, frozen=True):
    """A case, or with `failure` what happened to it, which its report is to say. `signatures`: folders over the built-in ones."""

    case: Case
    failure: str = ""
    signatures: tuple[str, ...] = ()


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything else prints goes elsewhere
    knowledge: Database | None = None
    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line, type=HelperRequest)
        knowledge = knowledge or pipeline.database(Path(f) for f in asked.signatures)
        text = render(_report(asked, knowledge), "jsonl").encode()
        try:
            answers.write(b"%016x" % len(text) + text)
            answers.flush()
        except BrokenPipeError:  # the worker is gone; another one does this case again
            os._exit(0)


def _report(asked: HelperRequest, knowledge: Database) -> Report:
    case = asked.case
    if asked.failure:
        return pipeline.analyze([], case.name, knowledge, [Warning("limit", asked.failure, case.name)])
    try:
        if "://" in case.base:
            return _fetched(case, knowledge)
        os.chdir(case.base)
        return pipeline.analyze_paths([Path(p) for p in case.paths], case.name, knowledge, workers=1)
    except (SourceError, OSError) as error:
        return pipeline.analyze([], case.name, knowledge, [Warning("unreadable", str(error), case.name)])
    except ForensicsError as error:
        return pipeline.analyze([], case.name, knowledge, [Warning("unreadable", str(error), case.name)])


def _fetched(case: Case, knowledge: Database) -> Report:
    """The report on files of a URL, which are brought into a folder of this machine and leave it again."""
    fs, root = open_url(case.base)
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        os.chdir(folder)
        try:
            for path in case.paths:
                place = Path(path[len(root) :].strip("/") or Path(path).name)
                place.parent.mkdir(parents=True, exist_ok=True)
                fs.get_file(path, str(place))
            tops = sorted({p.name for p in Path().iterdir()})
            return pipeline.analyze_paths([Path(t) for t in tops], case.name, knowledge, workers=1)
        except OSError as error:
            return pipeline.analyze([], case.name, knowledge, [Warning("unreadable", str(error), case.name)])
        finally:
            os.chdir("/")


if __name__ == "__main__":
    main()
