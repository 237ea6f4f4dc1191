"""Cause files together: several folders become one database, and what is wrong in them is found beyond their form.

All faults are told in one run, each with path and line.

Checked here: duplicate ids, `explains` without such a cause, patterns that do not compile or nest unbounded repeats, examples
that fail. The time that patterns take is tried where nobody tested them; more checks are in the room signature_lint (other
signatures' examples, fields).

Merge several folders: the built-in one, then those of a site or a person; later folders override earlier ones.

    signatures/host_memory/oom_cgroup.yaml   +   mine/host_memory/oom_cgroup.yaml   ->   one cause, host_memory.oom_cgroup

A new cause is added. For a known cause, a later file
  - adds its signatures; one with a known id replaces the older one;
  - puts its remedies and open questions first; one with the same `do` (or `what`) replaces the older one;
  - replaces its titles, means and summary if it has them, adds to `explains`, and may set `fallback`.

Find patterns that may take seconds on one line, by their form, and by their time on lines that are made to be slow.

(\\w+\\s?)+:      nests unbounded repeats: exponential on a line of letters without a colon
a.*b.*c.*d       polynomial: slow on a long line full of `a b c` without a `d`
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import regex
from msgspec.structs import replace

from forensics.core.limits import Limits
from forensics.data_files.form import Fault
from forensics.database.confirm import Confirmer, compiled
from forensics.database.entries import TITLE_KEYS, Cause, Example, Place, Signature
from forensics.database.files import is_within

TEXT_BYTES = Limits().text  # of a line, at most, are looked at
SLOW_S = 0.1  # of processor time on a line of TEXT_BYTES: half the limit at which confirmation gives up
FIRST_LOOK = 4  # a line of a quarter of that length tells first: quadratic time is SLOW_S / 16 there, linear time far less
MAX_TRIAL_S = 0.5  # five times SLOW_S: how much slower a slow pattern is need not be known
TRIALS = 3  # chosen by hand: one of three finds the processor free
PATTERN_SHOWN = 80  # characters
UNMATCHED_END = "\x01"  # no class of a pattern takes it, so whole lines fail at their very end


def nests_repeats(pattern: str) -> bool:
    """Does `pattern` repeat a group without bound that itself ends in an unbounded repeat, as in `(a+)+` or `(?:x|(.*y*))*`?"""
    open_groups: list[bool] = []  # of each open group: does what was read of it last repeat without bound?
    loose = False  # the same of the item just read
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at, loose = at + 2, False
        elif char == "[":
            at, loose = _past_class(pattern, at), False
        elif char == "(":
            open_groups.append(False)
            at, loose = at + 1, False
        elif char == "|" and open_groups:
            open_groups[-1] = open_groups[-1] or loose
            at, loose = at + 1, False
        elif char == ")" and open_groups:
            loose = open_groups.pop() or loose
            at += 1
            if loose and _unbounded(pattern, at) and not pattern.startswith("+", at + 1):
                return True
        elif _unbounded(pattern, at):
            at, loose = at + 1 if char in "+*" else pattern.index("}", at) + 1, True
            if pattern.startswith("+", at):  # possessive: gives nothing back
                at, loose = at + 1, False
        elif char == "?" and loose:
            at += 1  # a lazy repeat is still one
        else:
            at, loose = at + 1, False
    return False


def _past_class(pattern: str, at: int) -> int:
    at += 2 if pattern.startswith("[^", at) else 1
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _unbounded(pattern: str, at: int) -> bool:
    """Does an unbounded repeat stand at `at`: `+`, `*` or `{3,}`?"""
    if pattern.startswith(("+", "*"), at):
        return True
    head, comma, rest = pattern[at + 1 : at + 12].partition(",")
    return pattern.startswith("{", at) and bool(comma) and rest.startswith("}") and head.isdigit()


def slow_pattern_faults(signature: Signature) -> Iterator[str]:
    """A message for each pattern of the signature that takes too long."""
    lines = list(probe_lines(signature))
    for pattern in (signature.pattern, *signature.unless):
        took = next((c for c in (_long_cost(pattern, line) for line in lines) if c > SLOW_S), 0.0)
        if took:
            duration = f"{took * 1000:.0f} ms" if took < MAX_TRIAL_S else f"more than {MAX_TRIAL_S * 1000:.0f} ms"
            yield f"pattern {pattern[:PATTERN_SHOWN]!r} takes {duration} on a line of {TEXT_BYTES >> 10} KiB; bound its repeats"


def _long_cost(pattern: str, line: str) -> float:
    """Seconds on `line`; 0 if its last quarter already shows that it is fast."""
    search, quick = partial(compiled(pattern).search, timeout=MAX_TRIAL_S), SLOW_S / FIRST_LOOK**2
    if cost(partial(search, line[-(len(line) // FIRST_LOOK) :]), quick, MAX_TRIAL_S, TRIALS) < quick:
        return 0.0
    return cost(partial(search, line), SLOW_S, MAX_TRIAL_S, TRIALS)


def probe_lines(signature: Signature) -> Iterator[str]:
    """Long lines that nearly match, with an anchor at the end: an example or its beginning repeated, or one character
    repeated."""
    parts = ["a", "0", " ", "/", ".", "("]
    for example in signature.match[:3]:
        text = example.text[:2000]
        parts += [text + " ", text[: len(text) * 2 // 3] + " ", text[: len(text) // 3] + " "]
    for part in parts:
        yield part * (TEXT_BYTES // len(part)) + " " + "".join(signature.anchors[:1]) + UNMATCHED_END


def cost(search: Callable[[], object], enough: float, most: float, trials: int) -> float:
    """Seconds of processor time of one search, the best of a few, as the machine may be busy; `most` if it gives up. Under
    `enough`, one trial does."""
    best = most
    for _ in range(trials):
        start = time.thread_time()
        try:
            search()
        except TimeoutError:
            if time.thread_time() - start > most / 2:
                return most
            continue
        best = min(best, time.thread_time() - start)
        if best < enough:
            break
    return best


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


def merge_causes(base: Iterable[Cause], more: Iterable[Cause]) -> list[Cause]:
    """The causes of `base`, overridden and extended by those of `more`."""
    by_id = {c.id: c for c in base}
    for cause in more:
        known = by_id.get(cause.id)
        by_id[cause.id] = _over(known, cause) if known else cause
    return list(by_id.values())


def _over(known: Cause, given: Cause) -> Cause:
    acts = {r.do for r in given.remedies}
    asked = {m.what for m in given.missing}
    return replace(
        known,
        **{key: getattr(given, key) or getattr(known, key) for key in TITLE_KEYS},
        means=given.means or known.means,
        summary=given.summary or known.summary,
        explains=tuple(dict.fromkeys((*known.explains, *given.explains))),
        fallback=known.fallback or given.fallback,
        signatures=tuple(({s.name: s for s in known.signatures} | {s.name: s for s in given.signatures}).values()),
        remedies=(*given.remedies, *(r for r in known.remedies if r.do not in acts)),
        missing=(*given.missing, *(m for m in known.missing if m.what not in asked)),
        place=given.place if given.summary or given.explains else known.place,
    )


def resolve_yields(causes: Sequence[Cause]) -> tuple[list[Cause], list[Fault]]:
    """`causes` with the patterns of `yields_to` as vetoes of their signatures, and a fault for each unknown id.

    If one line may match two signatures, `yields_to` says which one is used.
    """
    known = {s.id: s.pattern for c in causes for s in c.signatures}
    faults = [
        Fault(s.place.path, s.place.line, f"yields_to {i}, and there is no other signature with this id")
        for c in causes
        for s in c.signatures
        for i in s.yields_to
        if i not in known or i == s.id
    ]
    made = [replace(c, signatures=tuple(_yielding(s, known) for s in c.signatures)) for c in causes]
    return made, faults


def _yielding(signature: Signature, patterns: Mapping[str, str]) -> Signature:
    if not signature.yields_to:
        return signature
    vetoes = (patterns[i] for i in signature.yields_to if i in patterns and i != signature.id)
    return replace(signature, unless=(*signature.unless, *vetoes))
