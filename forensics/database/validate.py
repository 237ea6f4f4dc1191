"""Check cause files beyond their form; all faults in one run, each with path and line.

Checked here: duplicate ids, `explains` without such a cause, patterns that do not compile or nest unbounded repeats, examples
that fail. More expensive checks are in slow_patterns (time) and in the room signature_lint (other signatures' examples, fields).
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import regex

from forensics.data_files.form import Fault
from forensics.database.confirm import Confirmer
from forensics.database.entries import Cause, Example, Place, Signature
from forensics.database.files import is_within
from forensics.database.slow_patterns import nests_repeats

MAX_SIGNATURES = 20_000  # in a database
MAX_EXAMPLE_CHARS = 120  # characters of an example in a fault


def check(
    causes: Iterable[Cause], where: Mapping[str, str] | None = None, proven: Path | None = None, own: Path | None = None
) -> list[Fault]:
    """All faults of `causes`, in order of place.

    `where`: path of a cause's file, for causes that were not read from one. `proven`: a folder whose signatures are not checked
    one by one, because tests did that; it takes nearly all of the time. `own`: only signatures below this path are checked one by
    one.
    """
    causes = list(causes)
    known = {c.id for c in causes}
    faults: list[Fault] = []
    for cause in causes:
        here = Place((where or {}).get(cause.id, cause.id), 1) if not cause.place.path else cause.place
        found = [(here, m) for m in (*_explains(cause, known), *([f"cause {cause.id} is defined twice"] * _again(cause, causes)))]
        found += [(s.place, f"signature id {s.name} is used twice") for s in _twice(cause)]
        for signature in (s for s in cause.signatures if not (proven and _in(s, proven)) and (own is None or _in(s, own))):
            found += [(place, f"{signature.id}: {what}") for place, what in faults_of(signature)]
        faults += [Fault(p.path or here.path, p.line or here.line, what) for p, what in found]
    total = sum(len(c.signatures) for c in causes)
    if total > MAX_SIGNATURES:
        faults.append(Fault(causes[-1].place.path, 1, f"{total} signatures; {MAX_SIGNATURES} is the limit"))
    return sorted(faults)


def _in(signature: Signature, folder: Path) -> bool:
    return is_within(signature.place.path, folder)


def _again(cause: Cause, causes: list[Cause]) -> bool:
    return next(c for c in causes if c.id == cause.id) is not cause


def _explains(cause: Cause, known: set[str]) -> Iterator[str]:
    families = {c.split(".")[0] for c in known}
    for target in cause.explains:
        alive = target[:-2] in families if target.endswith(".*") else target in known
        if not alive or target == cause.id:
            yield f"explains {target}, which is no other cause"


def _twice(cause: Cause) -> Iterator[Signature]:
    seen: set[str] = set()
    for signature in cause.signatures:
        if signature.name in seen:
            yield signature
        seen.add(signature.name)


def faults_of(signature: Signature) -> Iterator[tuple[Place, str]]:
    """(place, message) of each fault of one signature and its examples."""
    for pattern in (signature.pattern, *signature.unless):
        if nests_repeats(pattern):
            yield signature.place, f"pattern {pattern!r} nests unbounded repeats"
        try:
            regex.compile(pattern)
        except (regex.error, RecursionError) as error:
            yield signature.place, f"pattern {pattern!r} does not compile: {error}"
            return
    if not (signature.match and signature.no_match):
        yield signature.place, "needs at least one positive and one negative example"
    confirmer = Confirmer(signature)
    for example in (*signature.match, *signature.no_match):
        try:
            for what in _example(confirmer, example, positive=example in signature.match):
                yield example.place, what
        except TimeoutError:
            yield example.place, f"takes too long on its example {_shown(example)}"


def _example(confirmer: Confirmer, example: Example, positive: bool) -> Iterator[str]:
    fields = confirmer.fields(example.text)
    if not positive:
        if fields is not None:
            yield f"matches its negative example {_shown(example)}"
    elif fields is None:
        yield f"does not match its example {_shown(example)}"
    else:
        wrong = {k: fields.get(k) for k, v in example.fields.items() if fields.get(k) != v}
        if wrong:
            yield f"example {_shown(example)} gives {wrong}, expected {example.fields}"


def _shown(example: Example) -> str:
    return repr(example.text if len(example.text) <= MAX_EXAMPLE_CHARS else example.text[:MAX_EXAMPLE_CHARS] + "...")
