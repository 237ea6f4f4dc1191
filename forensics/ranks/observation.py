"""The picture of the ranks as an Observation and in sentences: who keeps the others waiting, with the lines that show it.

A rank that only is late is no event: a run that is slow has not failed. signatures/records.yaml names the cause of each outcome.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime

from forensics.core.text import number_runs
from forensics.database import ProvenCause
from forensics.line_formats import parse_prefix
from forensics.model import Observation, Proof, Value
from forensics.model.dumps import Frame
from forensics.model.ranks import OddRank, ProofPlace, RankPicture

RANKS_RECORD = "ranks"  # the key of these outcomes in that file
KEPT_WAITING = "kept_waiting"  # one or a few ranks keep the others waiting
NOT_CARRIED_OUT = "not_carried_out"  # all ranks entered a call, and no device carries it out
GONE = "gone"  # ranks left no dump, and the others lost their connection to a process
ENDED_WELL = "ended_well"  # a rank ended with exit status 0, and the others lost their connection to it
OUTCOMES = (KEPT_WAITING, NOT_CARRIED_OUT, GONE, ENDED_WELL)


MAX_SPANS = 8  # spans of rank numbers that one text names


def numbers(ranks: Iterable[int]) -> str:
    """`0-3, 7`; of very many spans the first ones and how many there are."""
    runs = number_runs(ranks)
    shown = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}-{b}" for a, b in runs[:MAX_SPANS]]
    return ", ".join(shown) + (f" and {len(runs) - MAX_SPANS} more spans" if len(runs) > MAX_SPANS else "")


def at(frame: Frame | None) -> str:
    """` at decode (train.py:71)`; empty without a frame."""
    if frame is None:
        return ""
    return f" at {frame.function} ({frame.place})" if frame.function and frame.function != "<module>" else f" at {frame.place}"


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def reason(odd: OddRank) -> str:
    """Why a rank keeps the others waiting, in one sentence without the rank itself."""
    who = f"{len(odd.waiting)} rank{'s' * (len(odd.waiting) != 1)} ({numbers(odd.waiting)})" if odd.waiting else "the others"
    waits = f"{who} wait{'s' * (len(odd.waiting) == 1)} for it"
    shown = (
        f", as {'its stack' if len(odd.waiting) == 0 else 'their stacks'} show{'s' * (not odd.waiting)}" if odd.by_stacks else ""
    )
    shown += f"; nothing was printed since {_moment(odd.silent_since)}" if odd.silent_since else ""
    if odd.kind in ("barrier", "left_out", "other_call", "other_shape", "other_order", "other_batches"):
        if odd.place and odd.place == odd.others:
            return f"{odd.doing}; its line is that of the others,{at(odd.place)}{shown}"
        lines = f"its line is{at(odd.place) or ' unknown'}, that of the others{at(odd.others) or ' is unknown'}"
        return f"{odd.doing}; {lines}{shown}"
    if odd.kind == "device" or odd.is_only_late:
        return f"{odd.doing}{at(odd.place)}"
    missed = f" in {odd.call}{f' of group {odd.group}' if odd.group else ''}" if odd.call else ""
    last = f", since its last call at {_moment(odd.last_ns // 10**9)}" if odd.last_ns else ""
    text = f"{odd.doing}{at(odd.place)}{last}; {waits}{missed}{at(odd.others)}{shown}"
    if odd.late_waits:
        long = ", ".join(f"{seconds:.0f} s" for seconds in odd.late_waits)
        count = f"{len(odd.late_waits)} silence{'s' * (len(odd.late_waits) != 1)}"
        text += f"; in {count} of the job before (at least {long}), they waited for it, too"
    return f"{text}; it was late to earlier calls, by {odd.late_s:.2g} s since no. {odd.since}" if odd.late_s else text


def _fork(odd: OddRank) -> str:
    """`; run goes on from worker.py:21 there, and from worker.py:23 here`."""
    if odd.fork is None or odd.fork == (odd.place, odd.others):
        return ""
    own, theirs = odd.fork
    name = f"in {own.function} " if own.function not in ("", "<module>") else ""
    return f"; {name}it went on from {own.place}, and they from {theirs.place}"


def reason_and_rival(odd: OddRank) -> str:
    """The same, with the branch, and where the evidence is thin, what it may be as well and what would tell."""
    text = f"{reason(odd)}{_fork(odd)}"
    return f"{text}. It may also be that {odd.rival}" if odd.rival else text


MAX_NAMED = 16  # ranks that a sentence names


def observation(seen: RankPicture, proves: Mapping[str, ProvenCause], told: Collection[str] = ()) -> Observation | None:
    """The event that the picture shows; None where it shows none. `told`: the causes that logs of the same job tell of."""
    odd = [o for o in seen.odd if not o.is_only_late and o.proofs]
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
        stamp=next((stamp for p in places if (stamp := parse_prefix(p.text).stamp)), None),
    )


def _outcome(odd: list[OddRank], seen: RankPicture, is_connection_lost: bool) -> str:
    first = odd[0]
    if first.kind == "device" and len(first.waiting) + 1 >= seen.world:
        return NOT_CARRIED_OUT
    if is_connection_lost and first.kind == "ended_well":
        return ENDED_WELL
    return GONE if is_connection_lost and all(o.kind == "no_dump" for o in odd) else KEPT_WAITING


def _places(odd: list[OddRank]) -> list[ProofPlace]:
    """The lines that show it, of each odd rank one first; none that shows a trouble of its own, which is another event."""
    shown = [[place for place in o.proofs if place not in o.beside] for o in odd[:MAX_NAMED]]
    ordered = [own[at] for at in range(max(map(len, shown))) for own in shown if at < len(own)]
    return list(dict.fromkeys(ordered))[:MAX_NAMED]


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
        if outcome == ENDED_WELL:
            fields["early_rank"] = first.rank
        given = {"pid": first.pid, "node": first.host or None, "gpu": first.gpu}
        return fields | {name: value for name, value in given.items() if value is not None}
    fields |= {"culprit_kind": first.kind} if len({o.kind for o in odd}) == 1 else {}
    if first.place and len({o.place for o in odd}) == 1:
        fields |= {"file": first.place.file, "line_no": first.place.line}
    each = "; ".join(f"{o.named}: {reason(o)}" for o in odd[:MAX_NAMED])
    return fields | {"culprit_ranks": numbers([o.rank for o in odd]), "culprit_reason": each}


def _place_of(odd: OddRank) -> dict[str, Value]:
    """Where it stands or made the odd call, and where the others wait or made the usual one."""
    fields: dict[str, Value] = {"culprit_kind": odd.kind, "culprit_doing": odd.doing}
    if odd.call:
        fields["culprit_call"] = odd.call
    if odd.rival:
        fields["culprit_rival"] = odd.rival
    if odd.others and odd.others != odd.place:
        fields["others_place"] = at(odd.others).removeprefix(" at ")
    if odd.place:
        place = odd.place
        fields |= {"culprit_place": at(place).removeprefix(" at "), "file": place.file, "line_no": place.line}
    return fields
