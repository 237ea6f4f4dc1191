"""What is told behind the remedies that were made for a case: other ways to solve the same failure, up to MAX_REMEDIES.

    1 Install transformers 4.47.1 ...          made for the case
    2 Update the package that imports it ...    another way that solved such failures (tables/other_ways.csv)
    3 See which interpreter runs ...            of the cause, kept back while a better one is there
    4 If instead the GPU's memory ran out: ...   of the next likeliest explanation of the same lines

A remedy is left out here only where the case contradicts it (see `contradicted`), or where it says what one above it says.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from forensics.advice.wording import fields_of
from forensics.core import lazy
from forensics.database import Cause, Remedy
from forensics.database.conditions import Environment
from forensics.model import Advice, Fields

MAX_REMEDIES = 4  # as many as a person tries; the last two are told in a line each
MAX_SAME_WORDS = 0.5  # share of the shorter one's words; above it two remedies say the same
MAX_SAME_WORDS_OF_CASE = 0.7  # the same of two that were made for the case: they share the names of its things
MAX_AT_PLACE = 2  # chosen by hand: of remedies about one line of a program that have no command of their own
MIN_WORDS_COMPARED = 6  # chosen by hand: of shorter ones made for the case each word counts
# A remedy may leave these open: where logs of failed jobs tell it, nine in ten are so.
USUAL_SETTING: Environment = {"language": ("python",), "work": ("training",)}
PLAIN_WORD_PATTERN = lazy.regex(r"[a-z_][\w.]{3,}")
ASSIGNMENTS_PATTERN = lazy.regex(r"^(?:[A-Z_]+=\S+ )+")
# Words that begin what only looks; what changes something comes before it.
LOOKS = frozenset(("Ask", "Check", "Collect", "Compare", "Count", "Find", "Let", "List", "Look", "Open", "Print", "Read", "See",
                   "Trace", "Watch"))  # fmt: skip
Told = tuple[Remedy, str, Fields]  # a remedy, its action in this case's words, and the facts for its other texts


def with_usual(environment: Environment) -> Environment:
    """The environment, with what is usual where nothing tells it."""
    return {**USUAL_SETTING, **environment}


def behind(held: Sequence[Told], ways: Sequence[Told]) -> list[Told]:
    """What a cause keeps back and other ways, in the order in which they are told: changes that name something of this case, the
    ways that most people confirmed, other changes, and what only looks."""

    def order(entry: Told) -> int:
        if entry in ways:
            return 1
        return 3 if looks(entry[1]) else 0 if fields_of(entry[0].do) else 2

    return sorted((*held, *ways), key=order)


def only_looks(entry: Told) -> bool:
    """Does a remedy that is made for no message in particular only look?"""
    return looks(entry[1]) and not entry[0].when


def looks(action: str) -> bool:
    """Does an action begin with a word that changes nothing?"""
    return action.split(" ", 1)[0] in LOOKS


def unlike(told: Iterable[Told], above: Iterable[Told]) -> Iterator[Told]:
    """Each remedy that does not say what one of `above`, or one before it, says."""
    kept = [_words(entry) for entry in above]
    for entry in told:
        words = _words(entry)
        if not any(_share(words, other) > MAX_SAME_WORDS for other in kept):
            kept.append(words)
            yield entry


def said_once(told: Iterable[Told]) -> Iterator[Told]:
    """The remedies that were made for a case, without those that say what one before them says: the same verb, the same words."""
    kept: list[tuple[str, set[str]]] = []
    for entry in told:
        verb, words = entry[1].split(" ", 1)[0], _words(entry)
        same = any(verb == v and _share(words, other) > MAX_SAME_WORDS_OF_CASE for v, other in kept)
        if len(words) < MIN_WORDS_COMPARED or not same:
            kept += [(verb, words)] if len(words) >= MIN_WORDS_COMPARED else []
            yield entry


def _share(words: set[str], other: set[str]) -> float:
    """The share of the words of the shorter one that both have; two without words have none."""
    return len(words & other) / (min(len(words), len(other)) or 1)


def _words(entry: Told) -> set[str]:
    return set(PLAIN_WORD_PATTERN.findall(entry[1].lower()))


def without_repeats(told: Iterable[Advice], code: str, place: str) -> Iterator[Advice]:
    """The remedies, each without the commands, the reference and the quoted line of `code` that one above it has; without those
    behind the second that have nothing but another word for the `place` that one above names."""
    said = set[str]()
    for number, one in enumerate(told):
        commands = tuple(c for c in one.commands if _bare_command(c) not in said)
        if number >= MAX_AT_PLACE and place and place in one.action and place in said and not commands:
            continue
        is_quoted = code in said or (code and code[code.find("`") : code.rfind("`") + 1] in one.action)
        why = one.why.replace(code, "").strip() if is_quoted else one.why
        yield replace(one, commands=commands, why=why, reference=None if one.reference in said else one.reference)
        said |= {*map(_bare_command, commands), one.reference or "", *((place,) if place in one.action else ())}
        said |= {code} if code and code in one.why else set()


def _bare_command(command: str) -> str:
    """A command without what is set in front of it, and without the remark behind it."""
    return ASSIGNMENTS_PATTERN.sub("", command.partition("  #")[0]).strip()


def if_so(word: str, cause: Cause, advice: Sequence[Advice]) -> list[Advice]:
    """The first remedy of a cause that is not sure, with its title as the condition: `If instead the disk is full: ...`."""
    title = cause.title if cause.title[1:2].isupper() else cause.title[:1].lower() + cause.title[1:]
    return [replace(a, action=f"{word} {title}: {a.action}") for a in advice[:1]]
