"""`forensics explain WHAT`: what an id, a code, a line of a log or a question means, and what to do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.cli.common import Signatures
from forensics.cli.output import check_choice, standard_input, write
from forensics.core.errors import UsageError
from forensics.report.phrases import prompt

if TYPE_CHECKING:
    from forensics.database.codes import Code
    from forensics.database.differential import Differential
    from forensics.explain import ExplainedCause, Explanation, Match
    from forensics.explain.words import Term

PAGE_CHARS = 100  # the width of a report, which is read as well as it is pasted
LED_TO_SHOWN = 4  # chosen by hand: a cause may lead to as many as twenty others
SIGNATURES_SHOWN = 60  # chosen by hand: the causes with most signatures have hundreds, which nobody reads here
REMEDIES_SHOWN = 3  # of each cause where there are several


SETTINGS = {"ignore_unknown_options": True}  # `explain exit -9`


def explain(
    what: Annotated[
        list[str], typer.Argument(help="An id, a code, a line of a log or words; - reads lines from standard input.")
    ],
    form: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
    signatures: Signatures = None,
) -> None:
    """Explain what WHAT means, which signatures match it, and what to do.

    \b
    Examples:
      forensics explain xid 79
      forensics explain exit code 137
      forensics explain 'NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.'
      forensics explain memory leak
      tail -n 3 train.log | forensics explain -

    \b
    Knows causes, families and signatures by id; Xid, SXid, CUDA errors, exit codes, signals and
    NTSTATUS by number or name; messages in lines of a log; words such as deadlock or swap.
    Exit status: 1 if nothing is known about it, or if its words name no cause.
    """
    from forensics import pipeline
    from forensics.explain import MAX_TEXT_BYTES
    from forensics.explain import explain as explained

    check_choice(form, ("text", "json"))
    if _is_option(what[0]):
        raise UsageError(f"explain has no option {what[0]}", advice="forensics explain --help lists them")
    text = " ".join(what)
    if what == ["-"]:
        text = standard_input(MAX_TEXT_BYTES).decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("nothing to explain", advice="give an id, a code, a line of a log or words")
    found = explained(text, pipeline.database(signatures or ()))
    write(as_json(found) if form == "json" else "\n".join(as_text(found)) + "\n", None)
    if not found.known:
        raise typer.Exit(1)


def _is_option(word: str) -> bool:
    """Was it meant as an option? `-9` is a status, `-inf` a value, and a line of a log has blanks."""
    name = word.removeprefix("--") if word.startswith("--") else word[1:] if len(word) == len("-q") and word[0] == "-" else ""
    return name[:1].isalpha() and " " not in name


def as_json(found: "Explanation") -> str:
    """One document: asked, reading, terms, codes, sub_codes, matches, signatures, causes, near, names_nothing, exception,
    possible (ids)."""
    from msgspec import Struct
    from msgspec.structs import asdict

    from forensics.report.escape import json_text

    def plain(value: Any) -> Any:
        value = asdict(value) if isinstance(value, Struct) else value
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k not in ("place", "match", "no_match")}
        return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value

    document = plain(found) | {"possible": [cause.id for cause in found.possible]}
    for cause in document["causes"]:
        cause["cause"] = {k: v for k, v in cause["cause"].items() if k not in ("signatures", "remedies")}
    return json_text(document, 1)


NAMES_NOTHING = (
    "The log tells them apart:",
    "  $ forensics analyze LOG...               every log of the run, and the kernel's if there is one",
    "  $ tail -n 50 LOG | forensics explain -   the last lines alone",
    "  $ forensics explain exit code N          if all that is known is how it ended",
)
SETTLES = (
    "What settles it is how the program continued after it, and where the program prints it:",
    "  $ forensics analyze LOG...               the whole log, and the kernel's if there is one",
    "  $ grep -rn 'WORDS OF THE MESSAGE' .      in the source of the program that printed it",
)


UNKNOWN_EXCEPTION = (
    "Three questions settle it:",
    "  1 Which line raised it? The lowest line of the traceback above it that names a file of your own.",
    "      $ tail -n 50 LOG | forensics explain -",
    "  2 What is checked there? The condition in front of the `raise`, in the source that has the words.",
    "      $ grep -rn 'WORDS OF THE MESSAGE' . \"$(python -c 'import site; print(site.getsitepackages()[0])')\"",
    "  3 What came first? An earlier error, another rank's log or the kernel's may have led to it.",
    "      $ forensics analyze LOG...",
)


def as_text(found: "Explanation") -> Iterator[str]:
    """The lines that a person reads."""
    if found.names_nothing:
        yield f"{_shown(found.asked)} names no cause: many causes look like this from outside."
        yield from NAMES_NOTHING
        yield ""
        if found.differential:
            yield from _differential(found.differential)
        return
    if not found.known:
        yield f"Nothing is known of {_shown(found.asked)}."
        yield from (*(f"Did you mean {name}?" for name in found.near), *_exception(found), *_possible(found))
        yield "To teach a message: forensics signatures --help"
        return
    if found.reading:
        yield from _wrapped(f"read as {found.reading}", "")
        yield ""
    for term in found.terms:
        yield from _term(term)
    for code in found.codes:
        yield from _code(code)
    for row in found.sub_codes:
        yield from _sub_code(row)
    for i, explained in enumerate(found.causes[:1] if found.differential else found.causes):
        yield from _cause(explained, _remedies_shown(found, i))
    if found.differential:
        yield from _differential(found.differential)
    yield from _possible(found)
    if told := [m for m in found.matches if not m.silenced] or found.matches:
        yield "by these signatures and readers (forensics signatures show ID)"
        for match in told:
            yield from _match(match)
        yield ""
    if found.signatures and not found.matches:
        yield "signatures" if len(found.signatures) > 1 else "signature"
        for signature in found.signatures[:SIGNATURES_SHOWN]:
            yield f"  {signature.id}  {signature.weight}"
            yield from _wrapped(f"{signature.source}{'; since ' + signature.since if signature.since else ''}", "    ")
        yield "  forensics signatures show ID shows pattern and examples"


def _remedies_shown(found: "Explanation", i: int) -> int:
    """How many remedies of the cause number `i` are shown. Of the name of an ending, a term says what to do first."""
    explained, said = found.causes[i], any(term.first for term in found.terms)
    if found.is_guess and (i or (explained.cause.fallback and said)):
        return 0
    by_words = found.reading.startswith("words")
    return REMEDIES_SHOWN if by_words or len(found.causes) > 1 else len(explained.advice)


def _exception(found: "Explanation") -> Iterator[str]:
    """Of an exception of which no other word is known: what its class means, and what tells more."""
    if found.exception:
        yield from (*_wrapped(": ".join(found.exception), ""), "", *UNKNOWN_EXCEPTION, "")


def _possible(found: "Explanation") -> Iterator[str]:
    """What words alone suggest, as no more than that, and what settles it."""
    if found.possible:
        yield "Only its wording resembles these; nothing else supports them:"
        yield from (f"  {cause.id}  {cause.title}" for cause in found.possible)
    if found.possible or not (found.known or found.near or found.exception):
        yield from SETTLES
        yield ""


def _term(term: "Term") -> Iterator[str]:
    yield term.name
    yield from _wrapped(term.means, "  ")
    if term.first:
        yield from _wrapped(f"first: {term.first}", "  ", "         ")
        yield from (f"         {prompt(command)}{command}" for command in term.commands)
    yield ""


def _differential(told: "Differential") -> Iterator[str]:
    """What it may be, likeliest first, each with the observation that tells it from the others."""
    sources = list(dict.fromkeys(p.source for p in told.possibilities if p.source))
    yield f"The most frequent causes, in {told.title}, and how to tell them apart:"
    for number, possible in enumerate(told.possibilities, 1):
        yield ""
        yield from _wrapped(f"{number} {possible.sign}", "  ", "    ")
        yield from (f"    {prompt(command)}{command}" for command in possible.commands)
        yield from _wrapped(f"then: {possible.first}", "    ", "          ")
        counted = f"; {possible.share} [{sources.index(possible.source) + 1}]" if possible.share else ""
        yield from _wrapped(f"forensics explain {possible.causes[0]}{counted}", "    ")
    yield ""
    yield from (f"  [{number}] {source}" for number, source in enumerate(sources, 1))


def _code(code: "Code") -> Iterator[str]:
    yield f"{code.label}  {code.name}".rstrip()
    yield from _wrapped(code.meaning, "  ")
    if code.action:
        yield from _wrapped(f"to do: {code.action}", "  ")
    for note in code.notes:
        yield from _wrapped(note, "  ")
    if code.causes:
        yield from _wrapped(f"may indicate: {', '.join(code.causes)}", "  ")
    yield from _wrapped(f"source: {code.source}", "  ")
    yield ""


def _sub_code(row: dict[str, str]) -> Iterator[str]:
    origin = f", {row['origin']}" if row["origin"] else ""
    yield f"NVLink 5 sub-code of Xid {row['xid']}: {row['unit']}, reason 0x{int(row['reason']):02x} (driver {row['driver']})"
    yield f"  {row['severity']}{origin}; at once: {row['at_once']}; then: {row['then']}"
    yield ""


def _match(match: "Match") -> Iterator[str]:
    yield f"  line {match.line}  {match.id}  {match.weight}"
    if match.cause and not match.id.startswith(match.cause):
        yield f"    indicates {match.cause}"
    if match.fields:
        from forensics.advice.wording import fact_text

        yield from _wrapped(", ".join(f"{k}: {fact_text(k, v)}" for k, v in sorted(match.fields.items())), "    ")


def _cause(explained: "ExplainedCause", most: int) -> Iterator[str]:
    yield f"{explained.cause.id}  {explained.title or explained.cause.title}"
    yield from () if explained.title else _wrapped(explained.cause.means, "  ")
    if explained.summary and explained.summary != explained.cause.means:
        yield from _wrapped(explained.summary, "  ")
    if explained.cause.explains:
        led, more = explained.cause.explains[:LED_TO_SHOWN], len(explained.cause.explains) - LED_TO_SHOWN
        yield from _wrapped(f"may lead to: {', '.join(led)}{f' and {more} more' if more > 0 else ''}", "  ")
    for advice in explained.advice[:most]:
        who = "you" if advice.who == "user" else advice.who
        yield from _wrapped(f"{advice.rank} {who:<6}{advice.action}", "  ", "          ")
        yield from _wrapped(advice.why, "          ")
        yield from (f"          {prompt(line)}{line}" for command in advice.commands for line in command.splitlines())
        if advice.reference:
            yield f"          {advice.reference}"
    if len(explained.advice) > most:
        rest = f"and {len(explained.advice) - most} more" if most else "what to do"
        yield f"  {rest}: forensics explain {explained.cause.id}"
    yield ""


def _wrapped(text: str, indent: str, following: str | None = None) -> list[str]:
    import textwrap

    options = {"initial_indent": indent, "subsequent_indent": following or indent, "break_long_words": False}
    return textwrap.wrap(_shown(text), PAGE_CHARS, break_on_hyphens=False, **options)  # type: ignore[arg-type]


def _shown(text: str) -> str:
    from forensics.core.text import printable

    return printable(text, 1200)
