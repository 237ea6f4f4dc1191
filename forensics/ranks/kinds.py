"""How a rank keeps others waiting that waits in another call: one table, which dumps, stacks and logs ask alike. And beside each
kind the one that is nearest to it, with what would tell the two apart.

own all_reduce Float[48], theirs all_reduce Float[64], one number of one group    -> other_shape
own all_gather, behind the loop in which they are                                -> other_batches; else one another call
own barrier, theirs all_reduce                                                   -> barrier; else another number of batches

What defines the other kinds is asked where it is read: `raised`, `left`, `ended_well` in `ended`; `computes`, `lock`, `hook`,
`outside` in `doing`; `late` in `late` and in several looks at stacks; `device` by dumps alone.
"""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from forensics.model.ranks import Kind, OddRank
from forensics.ranks.doing import OUTSIDE_WAIT, UNTOLD
from forensics.ranks.hooks import BY_NAME
from forensics.ranks.pairs import PAIR_CALLS

BARRIER = "barrier"  # in the names of PyTorch's calls that only make ranks meet
UNNAMED = ("a collective call", "one call")  # of calls that may be different ones

Loop = Literal["", "left", "still_in"]


class Apart(Struct, frozen=True):
    """How the call in which a rank waits differs from that of the others. `own`, `usual`: the operations. `is_one_call`: they
    have one number of one group. `loop`: the rank left the loop in which the others are, or is in one that they left.
    `follows`: its call is the one that used to follow theirs. `two_groups`: the calls are of two groups. `is_behind`: its line
    stands behind theirs."""

    own: str
    usual: str
    is_one_call: bool = False
    loop: Loop = ""
    follows: bool = False
    two_groups: bool = False
    is_behind: bool = False

    @property
    def at_barrier(self) -> bool:
        """Is one of the two calls a barrier, and the other none?"""
        return (BARRIER in self.own) != (BARRIER in self.usual)

    @property
    def is_same_operation(self) -> bool:
        """Have both calls one name, and are they none between two ranks, which may be of one group?"""
        return self.own == self.usual and self.own not in (*UNNAMED, *PAIR_CALLS)


# The first row that is shown tells the kind. Calls of one operation and one group meet, so at two lines they are of two groups.
APART: tuple[tuple[Kind, Callable[[Apart], bool]], ...] = (
    ("other_shape", lambda e: e.is_one_call and e.own == e.usual),
    ("other_batches", lambda e: bool(e.loop)),
    ("barrier", lambda e: e.at_barrier),
    ("left_out", lambda e: e.follows),
    ("other_order", lambda e: e.two_groups or (e.is_same_operation and not e.is_one_call and not e.is_behind)),
    ("other_call", lambda e: True),
)


def kind_apart(shown: Apart) -> Kind:
    """How a rank differs that waits in another call than the others."""
    return next(kind for kind, is_shown in APART if is_shown(shown))


LEFT_LOOP = "it left the loop that the others are in, as if it had fewer batches"
MORE_BATCHES = "they left the loop that it is in, as if it had more batches"
LEFT_BARRIER = "it left that barrier out"
MORE_BARRIERS = "it comes to a barrier once more, or one of the others left that barrier out"
LEFT_CALL = "it left that call out and went on"
TWO_GROUPS = "the two calls belong to two groups, which it enters in another order"


def told_apart(shown: Apart, text: str) -> tuple[Kind, str]:
    """The kind, and `text`, which says where the ranks wait, with what that means."""
    kind = kind_apart(shown)
    how = {
        "other_batches": MORE_BATCHES if shown.loop == "still_in" else LEFT_LOOP,
        "barrier": LEFT_BARRIER if BARRIER in shown.usual else MORE_BARRIERS,
        "left_out": LEFT_CALL,
        "other_order": TWO_GROUPS,
    }
    return kind, f"{text}: {how[kind]}" if kind in how else text


SIZES_ALONE = "its tensor is smaller than those of the others, or that of"  # in the text of a rank of which no log has a line
_BY_DUMPS = "dumps of its calls would show it (TORCH_FR_BUFFER_SIZE)"
_BY_LOOP = "the lines of the loop would show it"
_BY_LOOKS = "a second look at the stacks of all ranks would show it"
_BY_NATIVE = "py-spy dump --native would show it"
_BY_LOCALS = "py-spy dump --locals would show its peer"
IN_PAIR = tuple(f"it waits in {call}" for call in PAIR_CALLS)
# By kind: is the evidence thin, what else it may be, and what would tell.
RIVALS: dict[Kind, tuple[Callable[[OddRank], bool], str, str]] = {
    "computes": (lambda o: not o.last_ns, "it is late in every step", _BY_LOOKS),
    "outside": (lambda o: o.doing == OUTSIDE_WAIT, "it waits for a lock", _BY_NATIVE),
    "lock": (lambda o: o.doing.startswith(OUTSIDE_WAIT), "both wait for something outside", _BY_NATIVE),
    "hook": (
        lambda o: o.doing.endswith(BY_NAME),
        "the wait has nothing to do with that",
        "the frame that called it would show it",
    ),
    "no_dump": (lambda o: True, "it is where it could not be looked at", "its exit status would show it"),
    "ended_well": (lambda o: o.by_stacks, "it could not be looked at", "its exit status would show it"),
    "barrier": (lambda o: True, "it has another number of batches", _BY_LOOP),
    "left_out": (lambda o: True, "it has another number of batches", _BY_LOOP),
    "other_shape": (
        lambda o: o.place is None or SIZES_ALONE in o.doing,
        "it makes another call, as with fewer batches",
        _BY_DUMPS,
    ),
    "other_batches": (lambda o: True, "it left out what the others call, or makes another call", _BY_LOOP),
    "other_order": (lambda o: o.by_stacks, "one rank left a call out", _BY_DUMPS),
    "other_call": (lambda o: o.by_stacks, "the calls belong to two groups, or it left its loop", _BY_DUMPS),
}


def rival(odd: OddRank, looked_again: bool = False) -> str:
    """What it may be as well, and what would tell; empty where the evidence is not thin. `looked_again`: several looks at the
    stacks of the rank were given."""
    is_thin, what, tells = RIVALS.get(odd.kind, (lambda _: False, "", ""))
    if odd.kind == "computes" and UNTOLD in odd.doing:
        return f"it waits for something; {_BY_NATIVE}"
    if tells == _BY_LOOKS and looked_again:
        return ""
    if odd.kind == "other_call" and odd.doing.startswith(IN_PAIR):
        return f"one of the others left out its part of that call; {_BY_LOCALS}"
    return f"{what}; {tells}" if is_thin(odd) else ""
