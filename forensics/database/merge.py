"""One database of several folders: the built-in one, then those of a site or a person, each over those before it.

    signatures/host_memory/oom_cgroup.yaml   +   mine/host_memory/oom_cgroup.yaml   ->   one cause, host_memory.oom_cgroup

A cause that is new is added. Of a cause that is known, a later file
  - adds its signatures; one whose id is known replaces the one it names, in its place;
  - puts its remedies and open questions in front; one with the same `do` (or `what`) replaces the older;
  - replaces title, means and summary where it gives them, adds to `explains`, and may set `fallback`.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from forensics.database.entries import Cause


def merged(base: Iterable[Cause], more: Iterable[Cause]) -> list[Cause]:
    """The causes of `base` with those of `more` over them."""
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
        title=given.title or known.title,
        means=given.means or known.means,
        summary=given.summary or known.summary,
        explains=tuple(dict.fromkeys((*known.explains, *given.explains))),
        fallback=known.fallback or given.fallback,
        signatures=tuple(({s.name: s for s in known.signatures} | {s.name: s for s in given.signatures}).values()),
        remedies=(*given.remedies, *(r for r in known.remedies if r.do not in acts)),
        missing=(*given.missing, *(m for m in known.missing if m.what not in asked)),
        place=given.place if given.summary or given.explains else known.place,
    )
