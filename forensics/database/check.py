"""What a database must satisfy beyond its form; every fault in one run.

Checked: ids used twice, `explains` that name no cause, anchors missing from their own examples, anchors too common to
scan for, patterns that do not compile or nest unbounded repeats, examples that fail, templates with unknown fields.
"""

import re
from collections.abc import Iterator

import regex

from forensics.database.causefiles import Fault
from forensics.database.confirm import Confirmer
from forensics.database.entries import Cause, Signature

MIN_ANCHOR = 4
# The catastrophic shape: a repeated group whose body ends in an unbounded repeat, as in (a+)+ or (.*x*)*
NESTED_REPEAT = re.compile(r"\((?:\?:|\?P<\w+>)?[^()]*[+*]\)\s*(?:[+*]|\{\d*,\})")


def check(causes: list[Cause], where: dict[str, str]) -> list[Fault]:
    """All faults of `causes`; `where` maps a cause id to the path of its file."""
    known = {c.id for c in causes}
    faults: list[Fault] = []
    seen: set[str] = set()
    for cause in causes:
        path = where[cause.id]
        messages = [*_explains(cause, known), *_twice(cause)]
        if cause.id in seen:
            messages.append(f"cause {cause.id} is defined twice")
        seen.add(cause.id)
        for signature in cause.signatures:
            messages += [f"{signature.id}: {m}" for m in check_signature(signature)]
        faults += [Fault(path, 1, m) for m in messages]
    return faults


def _explains(cause: Cause, known: set[str]) -> Iterator[str]:
    families = {c.split(".")[0] for c in known}
    for target in cause.explains:
        alive = target[:-2] in families if target.endswith(".*") else target in known
        if not alive or target == cause.id:
            yield f"explains {target}, which is no other cause"


def _twice(cause: Cause) -> Iterator[str]:
    names = [s.name for s in cause.signatures]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield f"signature id {name} is used twice"


def check_signature(signature: Signature) -> Iterator[str]:
    """What is wrong with one signature, its own examples included."""
    if not signature.anchors:
        yield "no anchor"
    for anchor in signature.anchors:
        if len(anchor.encode()) < MIN_ANCHOR or not re.search(r"\w{3}", anchor):
            yield f"anchor {anchor!r} is too short to scan for"
    for pattern in (signature.pattern, *signature.unless):
        if NESTED_REPEAT.search(pattern):
            yield f"pattern {pattern!r} nests unbounded repeats"
        try:
            regex.compile(pattern)
        except regex.error as error:
            yield f"pattern {pattern!r} does not compile: {error}"
            return
    if not (signature.match and signature.no_match):
        yield "needs at least one positive and one negative example"
    yield from _examples(signature)


def _examples(signature: Signature) -> Iterator[str]:
    confirmer = Confirmer(signature)
    for example in signature.match:
        fields = confirmer.fields(example.text)
        if fields is None:
            anchored = any(a.lower() in example.text.lower() for a in signature.anchors)
            yield f"does not match its example {example.text!r}{'' if anchored else ' (no anchor occurs in it)'}"
            continue
        wrong = {k: fields.get(k) for k, v in example.fields.items() if fields.get(k) != v}
        if wrong:
            yield f"example {example.text!r} gives {wrong}, expected {example.fields}"
    for example in signature.no_match:
        if not example.why:
            yield f"negative example {example.text!r} does not say why"
        if confirmer.fields(example.text) is not None:
            yield f"matches its negative example {example.text!r}"
