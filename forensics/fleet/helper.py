"""The process that analyses cases for one worker. Standard input: one JSON line per case; standard output: the reports.

{"name": "run7", "paths": ["incidents/run7"], "base": "/data"}   ->   16 hex digits (length), then the report as JSON

It has one thread and loads the signature database once. It ends when its input ends, or when its worker kills it because a case
exceeds its limits.
"""

import os
import sys
import tempfile
from pathlib import Path

import msgspec

from forensics import pipeline
from forensics.core.errors import ForensicsError
from forensics.database import Database
from forensics.fleet.cases import Case, open_url
from forensics.model import Report, Warning
from forensics.report import render


class HelperRequest(msgspec.Struct, frozen=True):
    """A case to analyse; with `failure`, a report that only says why the case failed. `signatures`: folders of own signatures."""

    case: Case
    failure: str = ""
    signatures: tuple[str, ...] = ()


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output to stdout goes to stderr, so that it does not mix with the answers
    knowledge: Database | None = None
    for line in sys.stdin.buffer:
        request = msgspec.json.decode(line, type=HelperRequest)
        knowledge = knowledge or pipeline.database(Path(f) for f in request.signatures)
        text = render(_report(request, knowledge), "jsonl").encode()
        try:
            answers.write(b"%016x" % len(text) + text)
            answers.flush()
        except BrokenPipeError:  # the worker is gone; another one analyses this case
            os._exit(0)


def _report(request: HelperRequest, knowledge: Database) -> Report:
    case = request.case
    if request.failure:
        return pipeline.analyze([], case.name, knowledge, [Warning("limit", request.failure, case.name)])
    try:
        if "://" in case.base:
            return _fetched(case, knowledge)
        os.chdir(case.base)
        return pipeline.analyze_paths([Path(p) for p in case.paths], case.name, knowledge, workers=1)
    except (ForensicsError, OSError) as error:
        return pipeline.analyze([], case.name, knowledge, [Warning("unreadable", str(error), case.name)])


def _fetched(case: Case, knowledge: Database) -> Report:
    """The report on files of a URL, which are downloaded to a temporary folder."""
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
