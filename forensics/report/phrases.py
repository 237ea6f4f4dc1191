"""Sentences, labels and choices that the readable formats share."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.text import with_noun
from forensics.model import Advice, Finding, Line, MessageGroup, Possible, Proof, Report, SourceSummary, Value, Warning
from forensics.model.answers import LOST_NUMBERS, NO_SIGNATURE
from forensics.model.logs import NO_ZONE, OF_SERVICES
from forensics.model.ranks import OddRank, process_text

VERDICTS = {
    "crash": "",
    "no_crash": "",
    "undetermined": "No cause is certain; this is the most likely one{}.",
    "open": "These logs do not show whether it ended badly{}.",
    "separate": "These logs show {} unrelated incidents, each on a line of its own; nothing says which one is meant.",
    "alike": "No cause is certain; another one below is as likely{}.",
    "likely": "This is probable, not certain{}.",
}
LEVEL_OF_VERDICT = {"crash": "error", "undetermined": "warning"}  # in the formats of code hosts
WHO = {"user": "you", "admin": "admin"}
SETTLED = "; see below for what would settle it"  # said only where an open question with its command is shown
# They say how the answer was found, and claim nothing of the line: other causes may print the same one.
WEIGHT_PHRASES = {
    "proof": "the line marked > decided it",
    "strong": "the line marked > is the strongest sign of it",
    "hint": "hints only",
}
LINK_PHRASES = {
    "time": "only the time links the line marked > to this run",
    "place": "the line marked > was given beside this run's log, and nothing else links it",
}
UNSURE_PHRASE = "the line marked > shows it, but not that it ended this run"
UNUSUAL = "none is a message of a known cause; those marked > were chosen by their wording"
OWN_ERROR = (
    "The program reports an error of its own, which is not among the known messages. Look for its cause in the lines around it, "
    "in the code that prints it, and in the logs of the services that it uses."
)
GUESSED = (
    "No message of a known cause was found in these logs. Below are their last lines, or lines that stand out by their"
    " wording, and the known causes whose logs use the most similar words."
)
SILENT_TITLE = "It exited with status {} and does not say why"
SILENT_WHY = "The program chose this status itself: no signal, memory kill or scheduler gives it."
FULL_STOPS = ".!?…"  # of a sentence
MAX_FIRST_SENTENCES = 4  # chosen by hand: of the summary, on the first screen; the cause and what led to it
UNDRAWN = "\b\x7f \t\r\n"
MIN_MENTIONED_PROBABILITY = 0.03  # one in thirty: less probable causes are only in the JSON document
POSSIBLE_HEAD = "What it may be"
MAX_POSSIBLE = 4  # chosen by hand: as many as a person looks at, each by one command; json has all
MORE_LIKELY_THAN_NOT = 0.5  # the meaning of the words
MIN_WHOLE_SECONDS = 10  # from here on a tenth of a second is less than one per cent
LEAD_PARTS = 4  # a line is shown from its start if what was matched begins in the first of so many parts of the room for it
NO_CAUSE = "none."  # the family of causes that mean that nothing ended badly
# Names of line formats that only tell how a program's own lines begin
LINE_PREFIXES = lazy.regex(
    r"plain|python logging|rich\b|bracketed time|stamped|iso without zone|rank\b|c10|date\b|epoch\b|transformers|indented|tqdm"
    r"|number in brackets|name and stamp|line number|lgr|(?:program|pid) in brackets|logfmt|glog|absl"
)
# `df = f(x)`, `print(x)`, `with a:`, `import a`; a shell's assignment has no blanks
PYTHON_STATEMENT = lazy.regex(
    r"(?!.*; do\b)(?:[A-Za-z_][\w.]*(?:\[[^\]]*\])?(?:, [a-z_]\w*)* [-+*/]?= |[A-Za-z_][\w.]*\(|import \w+(?:[;,]|$)"
    r"|(?:with|for|assert|if not|from) .*[\w)\]:]$|[\[(@][\w(\[]|[A-Za-z_][\w.]*\[[^\]]+\](?:[.\[]\S*)?$"
    r"|(?:def|class|return|del|raise) \w|return \{|if [^;]*: |\w+ [+*@] \w)"
)
# An option, a directive, a line of a notebook's cell, a line of YAML, JSON or SQL, a setting of a program: nobody types it alone.
NO_COMMAND = lazy.regex(r"--?[A-Za-z]|[#%!\"]|SET |[\w./-]+: |\w+=[{\[(]|\w+(?:\.\w+)+=")
COMMENT_BEHIND = "   #"
TIME_LINK_PATTERN = lazy.regex(r"time, [\d.]+ s apart(?:, known within \d+ s)?")
SENTENCE_END = lazy.regex(r"(?<=[a-z0-9)\"'%\]][.!?]) (?=[A-Z])")


def percent_text(probability: float) -> str:
    """`97 %`; never 100 or 0, because no answer is certain."""
    return f"{min(99, max(1, round(probability * 100)))} %"


def odds_text(report: Report) -> str:
    """The probability of the first cause; empty where it would be misread.

    A guess has none worth telling. Of a log that breaks off it tells how quiet the log is, not how the run ended.
    """
    return "" if is_guess(report) or has_open_end(report) else percent_text(report.causes[0].probability)


def has_open_end(report: Report) -> bool:
    """Does the log end at work, without a sign of a bad end, or was none read? Then nothing tells how the run ended."""
    cut_off = report.subject is not None and report.subject.outcome == "cut_off"
    return shows_no_crash(report) and (cut_off or not report.sources)


def open_end_line(report: Report) -> str:
    """The last line of a log, where no crash is shown and it tells of no end in words that are known; empty for any other."""
    found = report.causes[0].evidence
    open_end = report.subject is not None and report.subject.outcome in ("cut_off", "unknown") and shows_no_crash(report)
    return found[0].text if open_end and found else ""


def told_line(report: Report) -> str:
    """The line that tells why, in a table of many reports: the first one of the evidence, and of no crash the last one of a log
    that tells of no end."""
    if shows_no_crash(report):
        return open_end_line(report).strip()
    first = next((p for p in report.causes[0].evidence), None)
    return (first.matched or first.text).strip() if first else ""


def is_guess(report: Report) -> bool:
    """Are the causes supported by similar words only? Lines that show the end do not name a cause."""
    unknown = report.verdict == "undetermined" and not shows_no_crash(report)
    return unknown and all(p.signature in NO_SIGNATURE for p in report.causes[0].evidence)


def is_silent(report: Report) -> bool:
    """Did the program end itself with a status, and say nothing of why?"""
    return report.subject is not None and report.subject.silent


def shows_no_crash(report: Report) -> bool:
    """Is the first cause that nothing ended badly? The verdict is undetermined then if the log breaks off."""
    return report.causes[0].id.startswith(NO_CAUSE)


def evidence_head(report: Report) -> str:
    """The heading of the first cause's lines: they prove it, or only show how it ended."""
    if shows_no_crash(report):
        return "What was looked at"
    return "How it ended" if is_guess(report) else "Evidence"


def evidence_worth(report: Report) -> str:
    """The weight of the first cause's lines in words; empty if they only show how it ended."""
    if shows_no_crash(report):
        good = report.subject is not None and report.subject.outcome == "ended_well"
        shown = "lines that show a good end" if good else "its last lines"
        return f"{shown}, and lines that look alarming but ended nothing"
    if is_guess(report) or not report.causes[0].evidence:
        return ""
    weight, link = report.causes[0].evidence[0].weight, report.causes[0].linked_only_by
    if link and weight != "hint":
        return LINK_PHRASES[link]
    return UNSURE_PHRASE if weight == "proof" and report.verdict == "undetermined" else WEIGHT_PHRASES[weight]


def headline(report: Report) -> str:
    """What the report says in a few words: the first cause, if it is more than a guess."""
    if is_guess(report):
        return SILENT_TITLE.format(report.subject.status) if is_silent(report) and report.subject else "No cause was recognised"
    return report.causes[0].title if separate_causes(report) else titled(report.verdict, report.causes[0])


def separate_causes(report: Report) -> list[Finding]:
    """Independent causes in a machine's log, each shown by a line of its own, if none is likely to be the one the user means.

    They share the probability, although each of them happened. Empty for other reports.
    """
    if report.verdict != "undetermined" or report.subject is None or report.subject.kind != "machine":
        return []
    shown = [f for f in report.causes if f.role != "symptom" and any(p.weight != "hint" for p in f.evidence)]
    likely = [f for f in shown if f.probability >= MIN_MENTIONED_PROBABILITY]
    alone = likely[:1] == [report.causes[0]] and len(likely) > 1
    return likely if alone and sum(f.probability for f in likely) > MORE_LIKELY_THAN_NOT else []


def titled(verdict: str, finding: Finding) -> str:
    """The title of a cause; for an unproven one with `Probably` or `Not proven` before it."""
    if verdict != "undetermined" or finding.id.startswith(NO_CAUSE):
        return finding.title
    return f"{'Probably' if is_likely(finding) else 'Not proven'}: {finding.title}"


def is_likely(finding: Finding) -> bool:
    """Is this cause more likely than not?"""
    return finding.probability > MORE_LIKELY_THAN_NOT


def verdict(report: Report) -> str:
    """The sentence about the first cause that comes before all others; empty for most reports."""
    if is_guess(report):
        return ""
    if separate := separate_causes(report):
        return VERDICTS["separate"].format(len(separate))
    if shows_no_crash(report) and report.verdict == "undetermined":
        return VERDICTS["open"].format(SETTLED if report.missing else "")
    said = VERDICTS["likely" if report.verdict == "undetermined" and is_likely(report.causes[0]) else report.verdict]
    said = VERDICTS["alike"] if report.verdict == "undetermined" and _is_another_as_likely(report) else said
    return said.format(SETTLED if report.missing else "")


def _is_another_as_likely(report: Report) -> bool:
    first, *others = report.causes
    return bool(first.linked_only_by) and any(o.probability == first.probability for o in others if o.role != "symptom")


def what_happened(report: Report) -> str:
    """The first MAX_FIRST_SENTENCES sentences of the first cause's summary; for a guess only that it is one."""
    if is_guess(report):
        own = not report.possible and report.causes[0].evidence
        return SILENT_WHY if is_silent(report) else OWN_ERROR if own else GUESSED
    if awaited := awaited_ranks(report):
        return " ".join([MAY_HANG, *map(_awaited, awaited[:MAX_AWAITED])])
    if lost := lost_numbers(report):
        return f"{NO_CRASH_BUT} {lost.summary}"
    first = " ".join(SENTENCE_END.split(report.causes[0].summary)[:MAX_FIRST_SENTENCES])
    more = _waited_for(report)
    return " ".join([f"{first}." if more and first[-1:] not in FULL_STOPS else first, *more])  # a quoted message has no full stop


NO_CRASH_BUT = "No crash is shown, but look at its numbers before you use its result."


def lost_numbers(report: Report) -> Finding | None:
    """What the numbers of a run show against its result, if it ended well and nothing else is told of it; None if nothing."""
    others = also_possible(report) if shows_no_crash(report) else []
    return next((f for f in others if f.evidence and f.evidence[0].signature in LOST_NUMBERS), None)


MAY_HANG = "Nothing shows whether it hangs. The positions of its ranks show which one would keep the others waiting."
MAX_AWAITED = 2  # chosen by hand: on the first screen; the table of ranks has all


def awaited_ranks(report: Report) -> Sequence[OddRank]:
    """The ranks for which others waited when somebody looked at a run of which nothing shows that it hung."""
    is_open = report.ranks is not None and report.verdict == "undetermined" and shows_no_crash(report)
    return [odd for odd in report.ranks.odd if not odd.is_only_late] if report.ranks and is_open else []


def _awaited(odd: OddRank) -> str:
    """`Rank 2 (pid 4711): it loads data at data.py:88; 3 ranks wait at train.py:212.`"""
    own, others = (f" at {frame.place}" if frame else "" for frame in (odd.place, odd.others))
    waiting = f"; {with_noun(len(odd.waiting), 'rank')} wait{'s' * (len(odd.waiting) == 1)}{others}" if odd.waiting else ""
    return f"R{odd.named[1:]}: {odd.doing}{own}{waiting}."


def _waited_for(report: Report) -> list[str]:
    """The rank that kept the others waiting, where its dumps show that and the first cause is the reason outside; of a run that
    was stopped, the one that was late again and again until then."""
    stopped = report.subject is not None and report.subject.outcome == "stopped"
    for odd in report.ranks.odd if stopped and report.ranks else ():
        if odd.is_only_late:
            at = f" ({odd.place.place})" if odd.place else ""
            return [f"Until then, {odd.named} kept the others waiting: {odd.doing}{at}."]
    facts = odd_rank(report)
    if not facts or "culprit_reason" in report.causes[0].facts:
        return []
    process = process_text(facts.get("pid"), facts.get("node"), facts.get("gpu"))
    return [f"Rank {facts['culprit_rank']}{process} kept the others waiting: {facts['culprit_reason']}."]


def odd_rank(report: Report) -> Mapping[str, Value]:
    """What dumps show of the single rank that kept the others waiting; empty if they show none."""
    found = (f.facts for f in (report.causes[0], *symptoms(report)))
    return next((facts for facts in found if "culprit_rank" in facts and "culprit_kind" in facts), {})


def remedies(report: Report) -> tuple[Advice, ...]:
    """The remedies; empty if the cause is a guess."""
    return () if is_guess(report) else report.causes[0].remediations


def possible_shown(report: Report) -> list[Possible]:
    """What it may be and nothing rules out, likeliest first."""
    return [p for p in report.possible if not p.why][:MAX_POSSIBLE]


def excluded(report: Report) -> list[Possible]:
    """What lines of the logs rule out of what it may be."""
    return [p for p in report.possible if p.why]


def symptoms(report: Report) -> list[Finding]:
    """The symptoms that the first cause explains, without those on the same lines, and without hints on the lines of another.

    Empty if nothing ended badly.
    """
    if shows_no_crash(report):
        return []
    found = [f for f in report.causes[1:] if f.role == "symptom"]
    kept: list[Finding] = []
    own = set(_places(report.causes[0].evidence))
    lines = set(own)
    for finding in found:
        places = set(_places(finding.evidence))
        if places and places <= own:
            continue
        if places - lines or not finding.evidence or any(p.weight != "hint" for p in finding.evidence):
            kept.append(finding)
            lines |= places
    return kept


def also_possible(report: Report) -> list[Finding]:
    """Other causes that may have contributed; all of them if they are guesses, without causes that mean nothing ended badly."""
    if is_silent(report):
        return []
    if is_guess(report):
        found = (f for f in report.causes if not f.id.startswith(NO_CAUSE))
        others = [replace(f, evidence=tuple(p for p in f.evidence if p.signature not in NO_SIGNATURE)) for f in found]
    else:
        others = [f for f in report.causes[1:] if report.verdict != "crash" or not f.id.startswith(NO_CAUSE)]
    earlier = {(a.source, a.cause, a.line) for a in report.earlier_attempts}  # these have a list of their own
    said = (f for f in others if not any((p.source, f.id, p.line) in earlier for p in f.evidence))
    return [f for f in said if f.role != "symptom" and f.probability >= MIN_MENTIONED_PROBABILITY]


def others_head(report: Report) -> str:
    """The heading of `also_possible`."""
    if is_guess(report):
        return "Closest known causes, by wording"
    return "The others" if separate_causes(report) else "Also possible"


def _places(proofs: Sequence[Proof]) -> list[tuple[str, int]]:
    return [(p.source, p.line) for p in proofs]


def quoted_evidence(finding: Finding, most: int) -> list[Proof]:
    """The `most` best evidence lines in reading order: sources in order of their best line, inside a source by line."""
    best = finding.evidence[0] if finding.evidence else None
    chosen = [p for p in told_evidence(finding) if p == best or not (best and _is_shown_with(best, finding, p))][:most]
    sources = list(dict.fromkeys(p.source for p in chosen))
    return sorted(chosen, key=lambda p: (sources.index(p.source), p.line))


def _is_shown_with(best: Proof, finding: Finding, proof: Proof) -> bool:
    """Does a line of evidence stand beside the best one as its continuation, or in another file of its folder word for word?"""
    if proof.source == best.source:
        return any(line.number == proof.line for part in neighbours_shown(finding, best) for line in part)
    same_folder = proof.source.rpartition("/")[0] == best.source.rpartition("/")[0]
    return same_folder and any(p.source == best.source and p.text == proof.text for p in finding.evidence)


def left_out(finding: Finding, shown: Sequence[Proof]) -> int:
    """How many lines of the evidence stand neither among `shown` nor beside the best of them."""
    best = finding.evidence[0]
    beside = {(best.source, line.number) for part in neighbours_shown(finding, best) for line in part} if best in shown else set()
    return len({(p.source, p.line) for p in finding.evidence} - {(p.source, p.line) for p in shown} - beside)


def told_evidence(finding: Finding) -> list[Proof]:
    """The evidence, best first, each line once; without those of the kernel that only hint in a record that proves: the
    frames of its stack in the report of a kill."""
    proven = {p.signature for p in finding.evidence if p.weight == "proof"}
    best: dict[tuple[str, int], Proof] = {}
    for proof in finding.evidence:
        if proof.weight != "hint" or not proof.by_kernel or proof.signature not in proven:
            best.setdefault((proof.source, proof.line), proof)
    return list(best.values())


def line_excerpt(proof: Proof, room: int) -> str:
    """The evidence line in at most `room` characters; it begins at the match if that would not be visible otherwise.

    Characters at the end that a terminal does not draw (backspaces of a progress bar) are left out.
    """
    text = proof.text.rstrip(UNDRAWN)
    at = text.find(proof.matched) if proof.matched else 0
    return text if at < room // LEAD_PARTS or at + len(proof.matched) <= room else f"… {text[at:]}"


def neighbours_shown(finding: Finding, proof: Proof) -> tuple[Sequence[Line], Sequence[Line]]:
    """The lines before and behind a line of evidence that are shown with it: all that are known if it is the only line, else
    those in which its message continues."""
    if len({(p.source, p.line) for p in finding.evidence}) == 1:
        before, after = ([x for x in part if x.number != proof.line] for part in (proof.before, proof.after))
        return before, after  # lines that a notebook has in one line of its file have one number
    behind: list[Line] = []
    if proof == finding.evidence[0]:
        behind += proof.after[: proof.continued]
    return (), behind


def lines_read(source: SourceSummary) -> str:
    """How many lines were read: of a notebook those that its cells printed, which are fewer than those of the file; of what
    docker compose prints those of one service."""
    service = source.name.rpartition("!")[2] if source.format == OF_SERVICES else ""
    return with_noun(source.lines, "line") + (
        " of output" if source.format == "notebook" else f" of {service}" if service else ""
    )


def kind_of_source(source: SourceSummary) -> str:
    """What a source is, in a word: `dmesg -T`, `notebook`; empty for the log of a program, however its lines begin."""
    return "" if LINE_PREFIXES.match(source.format) else source.format


def prompt(command: str) -> str:
    """What stands before a command: `$ ` for a shell, `>>> ` for a statement of Python, nothing for what is put into a file or
    behind a command."""
    if NO_COMMAND.match(command):
        return ""
    return ">>> " if PYTHON_STATEMENT.match(command.partition(COMMENT_BEHIND)[0]) else "$ "


def link_text(link: str) -> str:
    """The link of a line to the first evidence line, in words, with the time between them."""
    found = TIME_LINK_PATTERN.match(link)
    return f"linked by time alone{link[found.end() :]}" if found else f"linked by {link}"


def lines_to_read(report: Report) -> tuple[MessageGroup, ...]:
    """The lines that may say why it ended badly; empty if a cause is told, whose own lines are better.

    Of the lines so chosen in labelled logs beside a cause one in twenty was a line that people named as evidence.
    """
    return report.unusual if is_guess(report) else ()


LAST_WORDS_HEAD = "Last lines"
MAX_LAST_WORDS = 3  # chosen by hand: what closes a run says little, and stands behind what ended it
UNTOLD_ENDS = ("cut_off", "unknown")  # outcomes of which no line tells


def last_words(report: Report) -> tuple[MessageGroup, ...]:
    """The subject's own last lines where no line tells of an end or of its reason: they are no evidence. Without those that
    stand above, and the lines of a capture."""
    subject = report.subject
    if not is_guess(report) and not (subject and subject.outcome in UNTOLD_ENDS and shows_no_crash(report)):
        return ()
    shown = {(p.source, p.line) for p in report.causes[0].evidence} | {(m.source, m.line) for m in report.unusual}
    first = report.last_lines[0].source if report.last_lines else ""
    own = [m for m in report.last_lines if m.source == first and m.text.strip() and not m.context]
    ended = subject.outcome_lines if subject else ()
    last = (m for m in own[-MAX_LAST_WORDS:] if (m.source, m.line) not in shown)
    return tuple(replace(m, context=True) for m in last if not any(row.startswith(f"{m.source}:{m.line}: ") for row in ended))


def repetition_text(message: MessageGroup) -> str:
    """`  3 times, last on 120`; empty for a message that occurs once."""
    return f"  {message.count:,} times, last on {message.last_line}" if message.count > 1 else ""


def time_between(earlier: datetime, later: datetime) -> str:
    """How long between two moments, in words: `0.7 s`, `12 min`, `3 h`."""
    return duration_text(abs((later - earlier).total_seconds()))


def duration_text(seconds: float) -> str:
    """A length of time in words: `0.7 s`, `12 min`, `3 h`."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= MIN_WHOLE_SECONDS else f"{seconds:.1f} s"


def warning_notes(report: Report) -> list[tuple[str, str]]:
    """(where, message) of the warnings, the same message once: `all sources`, `a.log:7`, `a.log and 3 more`."""
    grouped: dict[str, list[Warning]] = {}
    zones_differ = any(source.clock.endswith("+zone") for source in report.sources)
    for warning in report.warnings:
        if warning.message == NO_ZONE and not zones_differ:
            continue  # all times are those of one clock, as the logs show them: nothing was guessed
        grouped.setdefault(warning.message, []).append(warning)
    return [(_where(found, len(report.sources)), message) for message, found in grouped.items()]


def _where(found: list[Warning], sources: int) -> str:
    names = list(dict.fromkeys(w.source for w in found if w.source))
    if not names:
        return ""
    if len(names) == 1:
        line = found[0].line if len(found) == 1 else None
        return f"{names[0]}:{line}" if line else names[0]
    return "all sources" if len(names) == sources else f"{names[0]} and {len(names) - 1} more"


def confirmed_text(confirmed: int) -> str:
    """How many people said that a remedy solved theirs: `solved it for 7 people`; empty for none who were counted."""
    return f"solved it for {with_noun(confirmed, 'person', 'people')}" if confirmed else ""
