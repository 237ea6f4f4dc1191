"""The place of a finding, put together: from its own facts, from the lines around its evidence, from other observations."""

from collections.abc import Sequence

from forensics.advice.case import NAMED_PLACE
from forensics.advice.whereabouts import HOST_FACTS, OWNER_FACTS, RANK_FACTS, TOLD_POD, location_text
from forensics.model import Fields, LinesAround, Proof, Value
from forensics.model.verdicts import Candidate, Diagnosis
from forensics.readers.near_lines import named_place
from forensics.readers.platforms.kubectl_describe import TRIGGER as KUBECTL_DESCRIBE
from forensics.readers.python.library_files import knows_own_code

PLACE_NAMES = {"file", "line_no", "function"}
STOOD_FACTS = ("cell", "epoch", "epoch_of_step", "step_no", "onset_step", "last_step")  # how far a program had come
MAX_TRACEBACK_GAP_LINES = 12  # between a traceback and a message that belongs to it; as many as an exception's own text may have
MAX_CHAIN_LINES = 200  # chosen by hand: between a traceback of library frames alone and the one of its chain with an own frame


def place_around(facts: Fields, proofs: Sequence[Proof], around: LinesAround) -> dict[str, Value]:
    """What the lines around the evidence tell of the place; without code in them or in `facts`, what a message itself names."""
    if not proofs:
        return {}
    from forensics.readers.near_lines import place_near  # imports a reader for each producer

    place = place_near(facts, proofs, around)
    named = "" if PLACE_NAMES & {*facts, *place} else named_place(proofs)
    return place | ({NAMED_PLACE: named} if named else {})


def own_code(place: Fields) -> dict[str, Value]:
    """The line of the user's own program in `place`, for advice alone: the message that stands near it does not name it."""
    return {n: place[n] for n in ("file", "line_no")} if knows_own_code(place) and "file" in place else {}


def rank_and_host(facts: Fields, diagnosis: Diagnosis) -> dict[str, Value]:
    """The rank of the process in `facts`, and the host of that rank, as far as facts lack them and a line of another cause gives
    them, as a launcher's table of failures does."""
    own_fields = [o.observation.fields for c in diagnosis.candidates for o in c.every if o.owner == "mine"]
    found: dict[str, Value] = {}
    rank = facts.get("culprit_rank", facts.get("rank"))
    if rank is None and facts.keys().isdisjoint(RANK_FACTS) and "pid" in facts:
        ranks = {f["rank"] for f in own_fields if "rank" in f and f.get("pid") == facts["pid"]}
        rank = ranks.pop() if len(ranks) == 1 else None
        found |= {"rank": rank} if rank is not None else {}
    hosts = {str(f["host"]) for f in own_fields if "host" in f and f.get("rank") == rank}
    is_told = rank is None or any(name in facts for name in HOST_FACTS)
    return found if is_told or len(hosts) != 1 else {**found, "host": hosts.pop()}


def pod_of(facts: Fields, diagnosis: Diagnosis) -> dict[str, Value]:
    """The only pod that a description beside the evidence tells of, in words, where `facts` name no owner: its container, how
    that ended, how often it was started again, and what it waits for."""
    if any(name in facts for name in (*OWNER_FACTS, "job", "owner")):
        return {}
    every = (o for c in diagnosis.candidates for o in c.every if o.owner != "others")
    described = (o.observation.fields for o in every if o.observation.kind.startswith(KUBECTL_DESCRIBE.kind))
    told = [f for f in described if "pod" in f and "container" in f]
    if len({(f.get("namespace"), f["pod"]) for f in told}) != 1:
        return {}
    last, words = told[-1], {"exit_code": "exit status {}", "restarts": "{} restarts", "waits_for": "{}"}
    state = ", ".join(text.format(last[n]) for n, text in words.items() if n in last)
    name = "/".join(str(last[n]) for n in ("namespace", "pod") if n in last)
    return {TOLD_POD: f"pod {name}, container {last['container']}" + (f" ({state})" if state else "")}


def service_of(facts: Fields, candidate: Candidate) -> dict[str, Value]:
    """The service of a host's log that wrote the first line of the evidence, where `facts` tell no place but the host."""
    lane = next((o.lane for o in candidate.owned if o.lane), None)
    of_host = {name: facts[name] for name in HOST_FACTS if name in facts}
    if lane is None or lane.kind != "service" or lane.entity.kind != "unit" or location_text(facts) != location_text(of_host):
        return {}
    return {"unit": lane.entity.name}


def code_of_traceback(facts: Fields, proofs: Sequence[Proof], diagnosis: Diagnosis) -> dict[str, Value]:
    """The line of the user's program that another traceback names, where `facts` name none.

    If `facts` name no code at all, the nearest traceback: a message may stand below the traceback that it belongs to
    (TensorFlow), or above that of the process that noticed the end of its worker. A notebook's traceback can be long; its heading
    names the exception. If `facts` name a library's code, the next traceback: later exceptions of a chain are raised nearer to
    the program.
    """
    if not proofs or knows_own_code(facts):
        return {}
    decisive, in_library = proofs[0], bool(PLACE_NAMES & facts.keys())
    near: list[tuple[int, Fields]] = []
    for o in (o.observation for c in diagnosis.candidates for o in c.every if o.owner == "mine"):
        same_rank = facts.get("rank", o.fields.get("rank")) == o.fields.get("rank", facts.get("rank"))
        if o.source != decisive.source or not same_rank or not o.proofs or not knows_own_code(o.fields):
            continue
        gaps = [p.line - decisive.line for p in o.proofs]
        named = decisive.text.startswith(f"{o.fields.get('exc_type')}:") and max(gaps) <= 0
        if (0 < max(gaps) <= MAX_CHAIN_LINES) if in_library else (named or min(map(abs, gaps)) <= MAX_TRACEBACK_GAP_LINES):
            near.append((min(map(abs, gaps)), o.fields))
    _, fields = min(near, key=lambda n: n[0], default=(0, {}))
    return {n: v for n, v in fields.items() if n in (*PLACE_NAMES, "cell")}


def stood_of_consequence(facts: Fields, candidate: Candidate, diagnosis: Diagnosis, around: LinesAround) -> dict[str, Value]:
    """How far the job had come by the log in which its end is a consequence, where the cause's own lines, as a kernel's, tell of
    no step and no cell."""
    if diagnosis.verdict == "no_crash" or not facts.keys().isdisjoint(STOOD_FACTS):
        return {}
    from forensics.readers.near_lines import place_near  # imports a reader for each producer

    own = {o.observation.source for o in candidate.owned}
    caused = (c for c in diagnosis.candidates if c.explained_by == candidate.cause)
    ends = (o for c in caused for o in c.owned if o.owner == "mine" and o.lane and o.lane.kind in ("job", "notebook"))
    for seen in (o.observation for o in ends if o.observation.source not in own and o.observation.proofs):
        told = {**seen.fields, **place_near(seen.fields, seen.proofs, around)}
        if found := {n: told[n] for n in STOOD_FACTS if n in told}:
            return found
    return {}


def code_of_consequence(candidate: Candidate, diagnosis: Diagnosis) -> str:
    """The line of the user's program that failed with it by another log, where the cause's own lines name no place."""
    own = {o.observation.source for o in candidate.owned}
    caused = (c for c in diagnosis.candidates if c.explained_by == candidate.cause and diagnosis.verdict != "no_crash")
    fields = (o.observation.fields for c in caused for o in c.owned if o.owner == "mine" and o.observation.source not in own)
    return next((location_text({n: v for n, v in f.items() if n in PLACE_NAMES}) for f in fields if knows_own_code(f)), "")
