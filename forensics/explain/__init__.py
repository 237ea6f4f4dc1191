"""explain(): everything that the database knows about an id, a code, lines of a log or a question in words.

"host_memory.oom_cgroup", "xid 79", "exit 137", "RuntimeError: NCCL error ...", "why does my training hang"
"""

import difflib
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from forensics import readers
from forensics.advice.case import AROUND_FACT, EVIDENCE_FACT, case_fields
from forensics.advice.quoted import quoted_evidence
from forensics.advice.remedies import fitting_remedies
from forensics.advice.wording import fill_command, summary
from forensics.database import Cause, Database, Signature, read_table
from forensics.database.codes import Code, codes_asked_for, codes_in_line
from forensics.database.conditions import condition_field
from forensics.database.differential import Differential, differentials
from forensics.database.effects import with_effects, with_warning
from forensics.database.entries import HEALTHY, TEMPLATE_FIELD_PATTERN
from forensics.database.nvlink5 import decode_line
from forensics.explain.words import (
    NOTHING,
    Term,
    codes_in,
    fitting_the_question,
    is_named_alone,
    is_sure,
    likely_causes,
    says_most,
    stems,
    terms_in,
    told_first_of,
)
from forensics.model import Advice, Fields, Observation, Source
from forensics.readers.python.exception_words import is_half_sure
from forensics.readers.python.own_words import own_words
from forensics.readers.words import is_printed
from forensics.scan import scan

MAX_TEXT_BYTES = 1 << 20  # a message or the end of a log; whole logs are for `analyze`
LIKE_AN_ID = re.compile(r"[a-z_]+\.[a-z_]+(?:/\w+)?")  # of a cause or a signature; an unknown one is a typing error
QUESTION = re.compile(r"(?i)(?:why|what|how|which|when|where|can|is|does|do|should)\b[^\n]{3,}\?\Z")  # in a person's words
BEFORE_A_SENTENCE = re.compile(r"(?<=[.:;]) +(?=[A-Z])")
FINAL_LINE = "code.exception/final_line"  # the signature of the last line of a traceback, whatever its message is
POSSIBLE_SHOWN = 2  # chosen by hand: a guess is no list to work through
CAUSES_SHOWN = 4  # chosen by hand: what fits on a screen with what each means


class Match(Struct, frozen=True):
    """A signature or record that matches a line. `fields`: facts as a report shows them. `silenced`: a healthy message or a
    record on the same line is used instead."""

    line: int
    text: str
    id: str
    cause: str | None
    weight: str
    fields: Fields
    silenced: bool


class ExplainedCause(Struct, frozen=True):
    """A cause with its fitting remedies, and a summary of what happened in the given lines. `title`: what they alone show, where
    that is less than the title of the cause."""

    cause: Cause
    summary: str
    advice: tuple[Advice, ...]
    title: str = ""


class Explanation(Struct, frozen=True):
    """What is known about `asked`; all other fields are empty if nothing is known. `near`: ids with similar spelling.

    `reading`: how `asked` was read, in words; empty if it is an id. `terms`: the terms for causes that it uses.
    `names_nothing`: it is a question whose words, such as "training stops", fit nearly every cause. `differential`: what it may
    be then, or where the likeliest cause is the name of an ending that others explain. `possible`: causes that its words alone
    suggest, which nothing shows. `exception`: the class of an exception of which no other word is known, and what it means.
    """

    asked: str
    reading: str = ""
    terms: tuple[Term, ...] = ()
    codes: tuple[Code, ...] = ()
    sub_codes: tuple[dict[str, str], ...] = ()
    matches: tuple[Match, ...] = ()
    signatures: tuple[Signature, ...] = ()
    causes: tuple[ExplainedCause, ...] = ()
    near: tuple[str, ...] = ()
    names_nothing: bool = False
    differential: Differential | None = None
    possible: tuple[Cause, ...] = ()
    exception: tuple[str, str] | None = None

    @property
    def is_guess(self) -> bool:
        """Are the causes a guess from the words of a question, and not named by an id, a code or a message?"""
        return self.reading.startswith("words") and len(self.causes) > 1

    @property
    def known(self) -> bool:
        """Is anything known about it?"""
        return bool(self.codes or self.matches or self.causes)


def explain(text: str, database: Database) -> Explanation:
    """What is known about `text`: an id, a code, a question, or lines of a log (at most MAX_TEXT_BYTES)."""
    name = text.strip()
    if name in database.causes:
        return Explanation(name, signatures=tuple(database.causes[name].signatures), causes=(_in_general(database.causes[name]),))
    cause, _, own = name.partition("/")
    if own and cause in database.causes:
        named = tuple(s for s in database.causes[cause].signatures if s.name == own)
        if named:
            return Explanation(name, signatures=named, causes=(_in_general(database.causes[cause]),))
    family = tuple(_in_general(c) for i, c in database.causes.items() if i.split(".")[0] == name)
    if family:
        return Explanation(name, causes=family)
    codes = codes_asked_for(name)
    if codes is not None:
        reading = " or ".join(dict.fromkeys(f"{_article(c.kind)} {c.kind}" for c in codes))
        return Explanation(name, reading, codes=tuple(codes), causes=tuple(_of_codes(codes, database)))
    found = _lines(text, database)
    is_mistyped_id = LIKE_AN_ID.fullmatch(name) is not None or (bool(found.near) and " " not in name)
    is_asked = QUESTION.match(name) is not None
    is_message = not is_asked and (any(_names_a_cause(m, database) for m in found.matches) or any(codes_in_line(name)))
    is_question = "\n" not in name and not is_mistyped_id and not is_message
    if is_question and not is_asked and (unknown := _unknown_exception(found)):
        return unknown
    if is_question:
        return _words(name, database, is_asked) or found
    return _told_as_words(name, found, database) or found


def _told_as_words(text: str, found: Explanation, database: Database) -> Explanation | None:
    """The answer to a question, where a person's words happen to be those of a message that tells no more than its cause."""
    if "\n" in text or is_printed(text) or found.codes or any(m.fields for m in found.matches):
        return None
    words = _words(text, database, False)
    same = words and words.causes and found.causes and words.causes[0].cause is found.causes[0].cause
    return words if same else None


ANY_OTHER_CLASS = "A class of the program's own or of a library: the code that defines it says when it is raised."


def _unknown_exception(found: Explanation) -> Explanation | None:
    """The explanation of an exception of whose message no word is known; None for every other line."""
    told = [m.fields for m in found.matches if m.id == FINAL_LINE and m.fields.get("exc_message")]
    if len(found.matches) != 1 or not told or found.codes:
        return None
    message, kind = str(told[0]["exc_message"]), str(told[0]["exc_type"])
    if codes_in(message) or any(NOTHING not in t.causes for t in terms_in(message)) or is_sure(message):
        return None
    row = read_table("exception_classes").get(kind.rpartition(".")[2])
    return Explanation(found.asked, exception=(kind, row["means"] if row else ANY_OTHER_CLASS))


def _names_a_cause(match: Match, database: Database) -> bool:
    """Does the match show that a program printed this? The hints of a fallback cause also match the words of a question."""
    cause = database.causes.get(match.cause or "")
    if cause is None or match.silenced or cause.id == HEALTHY:
        return False
    return match.weight != "hint" or not cause.fallback


def _article(word: str) -> str:
    return "an" if word[0] in "aeiouAEIOUXSN" and not word.startswith("si") else "a"


def _words(text: str, database: Database, is_asked: bool) -> Explanation | None:
    """The explanation of a question in a person's own words; None if it has no known word.

    A line that a program printed is no question: what its words are most like is told as a possibility and no more, and so is
    what the words of a person are hardly like."""
    codes, terms = codes_in(text), tuple(t for t in terms_in(text) if NOTHING not in t.causes)
    likely = likely_causes(text, database, CAUSES_SHOWN)
    if likely == (NOTHING,) and terms and is_named_alone(text, terms[0]):
        likely = terms[0].causes
    if not codes and likely == (NOTHING,):
        return Explanation(text, "words that name no cause", names_nothing=True, differential=differential_of(text))
    if not codes and not likely:
        return None
    if not codes and ((is_printed(text) and not is_asked) or not (terms or is_sure(text))):
        possible = tuple(database.causes[c] for c in likely[:POSSIBLE_SHOWN] if c in database.causes)
        return Explanation(text, possible=possible)
    terms = tuple(sorted(terms, key=lambda t: likely[:1] != t.causes[:1]))  # what the whole question means is told first
    # Behind the likeliest cause, a term that means it tells of its others more surely than the likeness of words.
    telling = [t for t in terms_in(text) if says_most(text, t) and NOTHING not in t.causes][:1]
    terms = (*telling, *(t for t in terms if t not in telling))
    of_term = terms[0].causes if terms and (telling or terms[0].causes[:1] == likely[:1]) else ()
    named = dict.fromkeys((*(c for code in codes for c in code.causes), *of_term, *likely))
    first = terms[0].first if of_term else ""
    causes = [_in_general(database.causes[c], text, first) for c in named if c in database.causes]
    words = ", ".join((*(c.label for c in codes), *(t.name for t in terms)))
    reading = f"words: {words or 'most similar to the description of ' + causes[0].cause.title.lower()}"
    is_symptom = bool(causes) and causes[0].cause.fallback and not codes
    differential = differential_of(text) if is_symptom and not telling else None
    return Explanation(text, reading, terms, codes, causes=tuple(causes[:CAUSES_SHOWN]), differential=differential)


def differential_of(question: str) -> Differential:
    """What it may be, for the setting with most words in `question`; for a machine of its own if there are none."""
    asked = set(stems(question))
    return max(differentials(), key=lambda told: (len(asked.intersection(stems(told.words))), not told.words))


def _lines(text: str, database: Database) -> Explanation:
    data = text.encode("utf-8", "replace")[:MAX_TEXT_BYTES]
    found = scan(Source("given", lambda _warn: iter([data])), database, lambda _warning: None)
    events = readers.read(found, database)
    used = {(e.kind, e.line) for e in events}
    matches = [_of_event(e) for e in events]
    for hit in found.hits:
        if (hit.signature, hit.line) not in used:
            matches.append(Match(hit.line, hit.text, hit.signature, hit.cause, hit.weight, dict(hit.fields), True))
    lines = text.splitlines() or [""]
    codes = tuple(dict.fromkeys(c for line in lines for c in (*codes_in_line(line), *codes_in(line))))
    signatures = {s.id: s for m in matches for s in _signature(m.id, database)}
    suggested = [e for e in events if is_half_sure(e)]
    causes = _of_events([e for e in events if e not in suggested], database) or tuple(_of_codes(codes, database))
    rest = dict.fromkeys(e.cause or "" for e in suggested if e.cause not in {c.cause.id for c in causes})
    return Explanation(
        asked=lines[0] if len(lines) == 1 else f"{len(lines)} lines",
        reading="a line of a log" if len(lines) == 1 else "lines of a log",
        codes=codes,
        sub_codes=tuple(row for line in lines for row in decode_line(line)),
        matches=tuple(sorted(matches, key=lambda m: (m.line, m.silenced, m.id))),
        signatures=tuple(signatures.values()),
        causes=causes,
        near=() if matches or codes else _near(text, database),
        possible=tuple(database.causes[c] for c in rest if c in database.causes),
    )


def _signature(name: str, database: Database) -> Iterator[Signature]:
    cause = database.causes.get(name.partition("/")[0])
    yield from (s for s in cause.signatures if s.id == name) if cause else ()


def _of_event(event: Observation) -> Match:
    text = event.proofs[0].text if event.proofs else ""
    return Match(event.line, text, event.kind, event.cause, event.weight, event.fields, False)


def _of_events(events: Iterable[Observation], database: Database) -> tuple[ExplainedCause, ...]:
    """The causes of the events, each with the facts of its event of the greatest weight. The name of an ending stands behind the
    cause that explains it."""
    events = list(events)
    found = {e.cause: database.causes[e.cause] for e in events if e.cause is not None and e.cause in database.causes}
    deeper = [cause for cause in found.values() if not cause.fallback]

    def order(event: Observation) -> tuple[bool, bool, int]:
        cause = found.get(event.cause or "")
        explained = cause is not None and cause.fallback and any(d.leads_to(cause.id) for d in deeper)
        return event.cause == HEALTHY, explained, ("proof", "strong", "hint").index(event.weight)

    named = {e.line for e in events if found.get(e.cause or "") in deeper}
    best: dict[str, Observation] = {}
    for event in sorted(events, key=order):
        cause = found.get(event.cause or "")
        if cause and (cause in deeper or event.line not in named):
            best.setdefault(cause.id, event)
    causes = [(database.causes[name], event) for name, event in best.items()]
    return tuple(_of_lines(c, e) for c, e in causes)


def _of_lines(cause: Cause, event: Observation) -> ExplainedCause:
    title = cause.title_of(event.kind)
    told = title if title != cause.title else ""
    return ExplainedCause(cause, summary(cause, event.fields), fitting_remedies(cause, _facts_told(event)), told)


def _facts_told(event: Observation) -> Fields:
    """What an event tells, with what its own words say."""
    return {**event.fields, **quoted_evidence(event.proofs), **own_words(event.fields, event.proofs)}


def _of_codes(codes: Iterable[Code], database: Database) -> Iterator[ExplainedCause]:
    names = dict.fromkeys(name for code in codes for name in code.causes if name in database.causes)
    yield from (_in_general(database.causes[name]) for name in list(names)[:CAUSES_SHOWN])


def _in_general(cause: Cause, question: str = "", first: str = "") -> ExplainedCause:
    """A cause with the remedies that can be told without a case: what helps always first, then what more threads confirm.
    `question`: whose words may ask for one of them, or speak against it. `first`: what its term says to do first."""
    own: set[str | None] = {*case_fields()}
    own -= {EVIDENCE_FACT, AROUND_FACT}
    told = [r for r in cause.remedies if own.isdisjoint(map(condition_field, r.when)) and not TEMPLATE_FIELD_PATTERN.search(r.do)]
    told.sort(key=lambda r: (bool(r.when), -r.confirmed))
    remedies = (
        Advice(
            i,
            r.who,
            with_warning(action, r.commands, {}),
            _told(r.why),
            tuple(with_effects(fill_command(c, {})) for c in r.commands),
            r.source or None,
        )
        for i, (r, action) in enumerate(told_first_of(fitting_the_question(told, question), first), 1)
    )
    return ExplainedCause(cause, "", tuple(remedies))


def _told(sentences: str) -> str:
    """The sentences of `sentences` that ask for no fact of a case."""
    return " ".join(s for s in BEFORE_A_SENTENCE.split(sentences) if not TEMPLATE_FIELD_PATTERN.search(s))


def _near(text: str, database: Database) -> tuple[str, ...]:
    names = [*database.causes, *(s.id for c in database.causes.values() for s in c.signatures)] if len(text) < 80 else []
    return tuple(difflib.get_close_matches(text.strip(), names, 3, 0.75))
