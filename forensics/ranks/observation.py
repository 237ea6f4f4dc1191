"""The picture of the ranks as an Observation: who keeps the others waiting, with the lines that show it.

A rank that only is late is no event: a run that is slow has not failed.
"""

from collections.abc import Collection, Mapping

from forensics.database import ProvenCause
from forensics.line_formats import parse_prefix
from forensics.model import Observation, Proof, Stamp, Value
from forensics.model.ranks import OddRank, ProofPlace, RankPicture
from forensics.ranks.outcomes import GONE, KEPT_WAITING, NOT_CARRIED_OUT, RANKS_RECORD
from forensics.ranks.words import at, numbers, reason

MAX_NAMED = 16  # ranks that a sentence names


def observation(seen: RankPicture, proves: Mapping[str, ProvenCause], told: Collection[str] = ()) -> Observation | None:
    """The event that the picture shows; None where it shows none. `told`: the causes that logs of the same job tell of."""
    odd = [o for o in seen.odd if o.kind != "late" and o.proofs]
    if not odd:
        return None
    first = odd[0]
    outcome = _outcome(odd, seen, any(map(proves[GONE].is_beside, told)))
    places = _places(odd)
    head = places[0]
    return Observation(
        kind=RANKS_RECORD,
        cause=first.cause or proves[outcome].cause,  # a rank that left is told by its end
        weight="strong",
        source=head.source,
        line=head.line,
        last_line=head.line,
        proofs=tuple(Proof(p.source, p.line, p.text, RANKS_RECORD, "strong") for p in places),
        fields=_fields(odd, outcome),
        stamp=_stamp(places),
    )


def _outcome(odd: list[OddRank], seen: RankPicture, is_connection_lost: bool) -> str:
    first = odd[0]
    if first.kind == "device" and len(first.waiting) + 1 >= seen.world:
        return NOT_CARRIED_OUT
    return GONE if is_connection_lost and all(o.kind == "no_dump" for o in odd) else KEPT_WAITING


def _places(odd: list[OddRank]) -> list[ProofPlace]:
    """The lines that show it, of each odd rank one first."""
    most = max(len(o.proofs) for o in odd)
    ordered = [o.proofs[at] for at in range(most) for o in odd[:MAX_NAMED] if at < len(o.proofs)]
    return list(dict.fromkeys(ordered))[:MAX_NAMED]


def _stamp(places: list[ProofPlace]) -> Stamp | None:
    return next((stamp for p in places if (stamp := parse_prefix(p.text).stamp)), None)


def _fields(odd: list[OddRank], outcome: str) -> dict[str, Value]:
    first = odd[0]
    fields: dict[str, Value] = {"waiting_ranks": numbers(first.waiting)}
    if first.group:
        fields["process_group"] = first.group
    if outcome == NOT_CARRIED_OUT:
        return fields | {"device_reason": first.doing}
    if len(odd) == 1:
        fields |= {"culprit_rank": first.rank, "culprit_reason": reason(first)}
        fields |= _place_of(first)
        if outcome == GONE or first.cause:
            fields["rank"] = first.rank
        given = {"pid": first.pid, "node": first.host or None, "gpu": first.gpu}
        return fields | {name: value for name, value in given.items() if value is not None}
    fields |= {"culprit_kind": first.kind} if len({o.kind for o in odd}) == 1 else {}
    each = "; ".join(f"{o.named}: {reason(o)}" for o in odd[:MAX_NAMED])
    return fields | {"culprit_ranks": numbers([o.rank for o in odd]), "culprit_reason": each}


def _place_of(odd: OddRank) -> dict[str, Value]:
    """Where it stands or made the odd call, and where the others wait or made the usual one."""
    fields: dict[str, Value] = {"culprit_kind": odd.kind, "culprit_doing": odd.doing}
    if odd.call:
        fields["culprit_call"] = odd.call
    if odd.others:
        fields["others_place"] = at(odd.others).removeprefix(" at ")
    if odd.place:
        place = odd.place
        fields |= {"culprit_place": at(place).removeprefix(" at "), "file": place.file, "line_no": place.line}
    return fields
