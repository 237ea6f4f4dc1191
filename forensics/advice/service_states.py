"""Tell what a state means that a scheduler, a service manager or a container runtime reports, by tables/service_states.csv.

    back-off 5m0s restarting failed container=fit pod=fit-0_ml(0a1b)     -> "Container fit of pod fit-0 ends again and again ...",
                                                                             kubectl -n ml logs fit-0 -c fit --previous
    0/6 nodes are available: 6 Insufficient nvidia.com/gpu.              -> "A pod waits: the scheduler found no node for it ..."

These programs tell no traceback. They name the pod, unit, step or worker, its state, and seldom the reason: what a report can
say is whose state it is, what it means, and where the reason stands.
"""

import functools
import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.advice.whereabouts import location_text
from forensics.advice.wording import LAST_SAID, fill_command, first_known, with_last_said
from forensics.core import lazy
from forensics.database import read_rows
from forensics.database.message import wordings
from forensics.model import Advice, Fields, Finding, Proof, Value
from forensics.readers.platforms.places import pod_and_namespace, probe_message, runtime_message, without_preemption

OR = " || "  # between alternatives in a cell of the table, the most exact first
MAX_STATE_PROOFS = 4  # chosen by hand: the evidence comes in the order of certainty, and what stands further down tells of less
MAX_NAMED_SUBJECTS = 4  # chosen by hand: of more pods the first ones stand for all


class ToldState(Struct, frozen=True):
    """The state that the first cause is told as. `where`: facts that name its subject. `remedy`: None, if the cause's own fit."""

    headline: str
    says: str
    where: Fields
    remedy: Advice | None


class _Row(Struct, frozen=True):
    patterns: tuple[re.Pattern[str], ...]
    cells: dict[str, str]

    def match(self, text: str) -> dict[str, str] | None:
        found = next(filter(None, (p.search(text) for p in self.patterns)), None)
        groups = found.groupdict() if found else {}
        told = {n: without_preemption(v).strip(" \"\\'").rstrip(".,") for n, v in groups.items() if v}
        return told if found else None

    def alternatives(self, column: str) -> tuple[str, ...]:
        return tuple(self.cells[column].split(OR))


@functools.cache
def _rows(cause: str) -> tuple[_Row, ...]:
    """The rows that belong to `cause`: the patterns of the others need not be compiled."""
    rows = (r for r in read_rows("service_states") if cause in r["cause"].split())
    return tuple(_Row(tuple(lazy.regex(w) for w in wordings(r["message"].split(OR))), r) for r in rows)


def told_state(cause: str, facts: Fields, proofs: Sequence[Proof]) -> ToldState | None:
    """The first state of the table, which has the more exact ones first, that belongs to `cause` and that one of the first
    `proofs` reports; None if none does.

    `facts`: of the evidence and of the place. What the line itself names comes before them.
    """
    for row in _rows(cause):
        for proof in proofs[:MAX_STATE_PROOFS]:
            if (groups := row.match(proof.text)) is not None:
                return _told(row, _known(row, groups, facts, proofs))
    return None


def as_state(finding: Finding, facts: Fields, has_own_fix: bool = False) -> Finding:
    """`finding` in the words of the state that its evidence reports, if any. `facts`: of the evidence and of the place.

    The remedy of a state stands alone: those of the cause are for programs that print why they end. Only a fix that belongs to
    the very message (`has_own_fix`) or to what the program said last, the first remedy of `finding`, is told in front of it.
    Where an exception says why, it is the answer, and a state that another line reports is not.
    """
    says_why = "exc_type" in finding.facts
    state = told_state(finding.id, facts, finding.evidence[: 1 if says_why else None])
    if state is None:
        return finding
    of_state = (state.remedy,) if state.remedy else finding.remediations
    if (has_own_fix or LAST_SAID in facts) and state.remedy:
        of_state = (*finding.remediations[:1], replace(state.remedy, rank=2))
    return replace(
        finding,
        title=state.headline,
        summary=with_last_said(state.says, facts),
        where=location_text({**facts, **state.where}),
        remediations=of_state,
    )


def _told(row: _Row, known: Fields) -> ToldState | None:
    says = first_known(row.alternatives("says"), known)
    if says is None:
        return None
    where = {n: known[n] for n in ("unit", "node", "job", "step") if n in known}
    if "pod" in known:
        where["pod"] = "/".join(str(known[n]) for n in ("namespace", "pod") if n in known)
    return ToldState(row.cells["headline"], says, where, _remedy(row, known))


def _remedy(row: _Row, known: Fields) -> Advice | None:
    action = first_known(row.alternatives("do"), known)
    if not action:
        return None
    commands = tuple(fill_command(c, known) for c in row.alternatives("commands"))
    why = first_known(row.alternatives("why"), known) or ""
    return Advice(1, row.cells["who"], action, why, commands, row.cells["source"])


def _known(row: _Row, groups: dict[str, str], facts: Fields, proofs: Sequence[Proof]) -> Fields:
    """All that the templates may name: facts, what the line names, and the other subjects in the same state."""
    known: dict[str, Value] = (
        dict(facts) | pod_and_namespace(str(facts.get("pod", ""))) | groups | pod_and_namespace(groups.get("pod", ""))
    )
    others = [found for p in proofs if (found := row.match(p.text))]
    every = (pod_and_namespace(o.get("pod", "")).get("pod") for o in others if "pod" in o)
    if len(pods := list(dict.fromkeys(every))) > 1:
        known["pods"] = _listed([str(p) for p in pods])
    if len(nodes := list(dict.fromkeys(o["node"] for o in others if "node" in o))) > 1:
        known["nodes_named"] = _listed(nodes)
    for name, read in (("runtime_says", runtime_message), ("probe_says", probe_message)):
        if said := next(filter(None, (read(p.text) for p in proofs)), ""):
            known[name] = said
    return known


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED_SUBJECTS
    return ", ".join(names[:MAX_NAMED_SUBJECTS]) + (f" and {more} more" if more > 0 else "")
