"""Merge several folders: the built-in one, then those of a site or a person; later folders override earlier ones.

    signatures/host_memory/oom_cgroup.yaml   +   mine/host_memory/oom_cgroup.yaml   ->   one cause, host_memory.oom_cgroup

A new cause is added. For a known cause, a later file
  - adds its signatures; one with a known id replaces the older one;
  - puts its remedies and open questions first; one with the same `do` (or `what`) replaces the older one;
  - replaces its titles, means and summary if it has them, adds to `explains`, and may set `fallback`.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from forensics.data_files.form import Fault
from forensics.database.entries import TITLE_KEYS, Cause, Signature


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
