"""The texts of the evidence lines and of the lines around them, for conditions of remedies.

Proof("train.log", 8, "RuntimeError: CUDA error: out of memory")
    -> evidence_place "train.log:8", evidence: its text, around: the texts above, at and below it, signature: cuda_error_oom
"""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from forensics.advice.case import AROUND_FACT, EVIDENCE_FACT, EVIDENCE_PLACE, LINE_TO_TEACH
from forensics.database.conditions import SIGNATURE_FACT
from forensics.model import LinesAround, Proof, Value
from forensics.model.answers import NO_SIGNATURE
from forensics.readers.base import nothing_near
from forensics.readers.capture.own_message import is_own_line
from forensics.readers.python.frames import frames_near
from forensics.readers.python.phase import phase_facts

PLAIN_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")  # pages and translated programs print the curved ones
NEIGHBOURS = 8  # lines on each side of a line of evidence, as the scan keeps them around each hit


def quoted_evidence(proofs: Sequence[Proof], near: LinesAround = nothing_near) -> dict[str, Value]:
    """The place of the first evidence line; and, for conditions of remedies, text and signatures of all of them, with the
    neighbours of the first one in each log, and the frames of the stack around the first one. Curved quotes become plain ones.

    What stands around further lines of a log, which may be hours away, tells of other events."""
    signatures = dict.fromkeys(part for p in proofs for part in p.signature.split("/"))
    leads = {p.source: p for p in reversed(proofs)}
    around = [text for p in proofs for text in (_with_neighbours(p, near) if p is leads[p.source] else (p.text,))]
    place: dict[str, Value] = {EVIDENCE_PLACE: place_of_line(proofs[0])} if proofs else {}
    lines, at = near(proofs[0]) if proofs else ((), 0)
    phase = phase_facts(lines, at) if lines else {}
    return {
        **place,
        **phase,
        EVIDENCE_FACT: "\n".join(p.text for p in proofs).translate(PLAIN_QUOTES),
        AROUND_FACT: "\n".join((*around, *frames_near(lines, at))).translate(PLAIN_QUOTES),
        SIGNATURE_FACT: "\n".join(signatures),
    }


def _with_neighbours(proof: Proof, near: LinesAround) -> list[str]:
    """Its line between those around it. A series gives its lines without them, so they are looked up."""
    if proof.before or proof.after:
        return [*(n.text for n in proof.before), proof.text, *(n.text for n in proof.after)]
    lines, at = near(proof)
    return [*lines[max(0, at - NEIGHBOURS) : at], proof.text, *lines[at + 1 : at + 1 + NEIGHBOURS]]


def line_to_teach(evidence: Sequence[Proof], is_trouble: Callable[[str], bool], failed: bool = False) -> dict[str, Value]:
    """The place of the first line, in the form that `forensics signatures new` takes; nothing if it has no word of failure, and
    the program is not known to have `failed`."""
    first = evidence[0] if evidence and evidence[0].signature in NO_SIGNATURE and not is_own_line(evidence[0].text) else None
    return {LINE_TO_TEACH: f"{first.source}:{first.line}"} if first and (failed or is_trouble(first.text)) else {}


def place_of_line(proof: Proof) -> str:
    """A line as a reader finds it: `build.log:12`."""
    return f"{PurePath(proof.source).name}:{proof.line}"
