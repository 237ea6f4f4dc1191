"""The values of a cause file: Cause, Signature, Remedy, Missing, Example, each with its Place in the file.

host_memory.oom_cgroup/kernel_memcg   full id of the signature `kernel_memcg` of the cause `host_memory.oom_cgroup`

What the outcome of a record proves: a cause, and which hits inside the record it replaces.

kernel_oom, memory_limit -> ProvenCause("host_memory.oom_cgroup", ("host_memory.oom_global", "host_memory.oom_cgroup"))
"""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct, field

from forensics.core import lazy

Weight = Literal["proof", "strong", "hint"]
WEIGHT_NAMES: tuple[Weight, ...] = get_args(Weight)
Who = Literal["user", "admin"]
Ends = Literal["process", "job", "machine", "nothing", "later"]
Scope = Literal["job", "notebook", "kernel", "scheduler", "runtime", "service", "any"]
ENDS: tuple[Ends, ...] = get_args(Ends)
SCOPES: tuple[Scope, ...] = get_args(Scope)
# Properties of a cause that the decision uses; signatures/README.md explains each.
TRAIT_NAMES = frozenset(
    (
        *("exception", "process_death", "program_error", "machine_fault", "external_stop", "waits_for_peer"),
        *("worthless_result", "stalls", "kernel_fault", "memory_kill", "child_death", "lacks_input", "device_fault"),
        *("disk_space", "shared_storage", "shared_network", "may_pass", "shared_power", "shared_stop"),
    )
)

HEALTHY = "none.healthy"
TEMPLATE_FIELD_PATTERN = lazy.regex(
    r"(?<!\$)\{([a-z]\w*)\}"
)  # in a template; `${HOME}` and `{{.State}}` of a command are no fields


class Place(Struct, frozen=True, order=True):
    """The path of the cause file and the line of an entry; empty for an entry from the cache."""

    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}" if self.path else ""


NO_PLACE = Place()


class Example(Struct, frozen=True, omit_defaults=True):
    """A line, and either the texts of the groups that it must give (`match`) or why it must not match (`no_match`)."""

    text: str
    fields: dict[str, str] = field(default_factory=dict)
    why: str = ""
    place: Place = NO_PLACE


class Signature(Struct, frozen=True, omit_defaults=True):
    """One message that speaks for one cause.

    `messages`: its wordings with holes, see `message`. `written_pattern`: the entry's own pattern, for what no message can say.
    `pattern`: what both say, confirms the line (`regex` syntax, searched anywhere in it); named groups become fields.
    `anchors`: plain texts in lower case, one of which stands in every line that the pattern matches: the scanner's literals, see
    `anchors`.
    `unless`: patterns that veto the hit when found in the same line; `yields_to`: ids of signatures whose patterns do so, too,
    see `merge.settled`. `ends`: what has come to its end where this line stands;
    `nothing` makes a notice of it, or a supporting line, and never a verdict; `later` warns of an end that may come, and shows
    none. `scope`: the lanes it may speak for; elsewhere it
    is a notice. Both are the cause's where the entry does not say. `title`: what it alone shows, where that is less than the
    title of its cause.
    """

    cause: str
    name: str
    weight: Weight
    anchors: tuple[str, ...]
    pattern: str
    messages: tuple[str, ...] = ()
    written_pattern: str = ""
    ends: Ends = "process"
    scope: tuple[Scope, ...] = ("any",)
    unless: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    since: str = ""
    source: str = ""
    title: str = ""
    match: tuple[Example, ...] = ()
    no_match: tuple[Example, ...] = ()
    place: Place = NO_PLACE

    @property
    def id(self) -> str:
        """`cause/name`, unique in a database."""
        return f"{self.cause}/{self.name}"


class Remedy(Struct, frozen=True, omit_defaults=True):
    """A remedy. `do`, `why` and `commands` may have {fields} of the case; `when` lists conditions, such as known fields.
    `effects`: what its commands do to existing data, jobs and machines, see `effects`. `confirmed`: how many people with this
    failure said that it solved theirs, as far as they were counted. `check`: what shows that it worked; `cost`: what it takes."""

    do: str
    who: Who
    why: str
    commands: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    source: str = ""
    effects: tuple[str, ...] = ()
    confirmed: int = 0
    check: str = ""
    cost: str = ""
    place: Place = NO_PLACE


class Missing(Struct, frozen=True, omit_defaults=True):
    """Missing information, with conditions as a remedy has them. The output of any of `commands` would show it; the first that
    exists where the job ran is named."""

    what: str
    why: str
    commands: tuple[str, ...]
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    place: Place = NO_PLACE


TITLE_KEYS = ("title", "as_consequence", "as_slow_down", "as_cut_off")


class Cause(Struct, frozen=True, omit_defaults=True):
    """Everything known about one cause.

    `explains`: ids of causes that follow from this one. `fallback`: named only when nothing deeper shows; any other
    cause with strong evidence explains it. `ends`, `scope`: see Signature, for those that say nothing of it and for records.
    `traits`: what the decision has to know of the cause (TRAIT_NAMES). `summary`: sentences, each a tuple of alternatives of
    which the first whose {fields} are all known is shown. Other titles, empty where `title` is said: `as_consequence`, where
    another cause explains it, says no more than its lines do; `as_slow_down`, where only slower steps show it;
    `as_cut_off`, where the log breaks off.
    """

    id: str
    title: str
    means: str
    signatures: Sequence[Signature]
    remedies: tuple[Remedy, ...]
    explains: tuple[str, ...] = ()
    fallback: bool = False
    ends: Ends = "process"
    scope: tuple[Scope, ...] = ("any",)
    traits: tuple[str, ...] = ()
    summary: tuple[tuple[str, ...], ...] = ()
    missing: tuple[Missing, ...] = ()
    place: Place = NO_PLACE
    as_consequence: str = ""
    as_slow_down: str = ""
    as_cut_off: str = ""

    def title_of(self, signature: str) -> str:
        """The title where nothing but this signature shows it."""
        return next((s.title for s in self.signatures if s.id == signature and s.title), self.title)

    def leads_to(self, other: str) -> bool:
        """Does this cause explain `other`, by its id or its family?"""
        return self.id != other and bool({other, other.split(".")[0] + ".*"} & set(self.explains))


class ProvenCause(Struct, frozen=True, array_like=True):
    """What an outcome proves. `cause`: None if the outcome has none, or takes it from the table of a code.

    `decides`: causes or families (`gpu_memory.*`) whose hits inside the record it replaces. `beside`: causes or families one of
    which must also be found in the same log; for an outcome without a cause, that one is its cause.
    """

    cause: str | None = None
    decides: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def is_beside(self, cause: str) -> bool:
        """Is `cause` one of those of `beside`?"""
        return cause in self.beside or f"{cause.split('.')[0]}.*" in self.beside


Records = Mapping[str, Mapping[str, ProvenCause]]


def signal_outcome(number: int) -> str:
    """The name of the outcome "killed by this signal"."""
    return f"signal_{number}"
