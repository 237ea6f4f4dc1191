"""What the program itself says of its failure: the sentence that states it, what it asks for, the values that it takes, the log
that it names, the file that it could not write.

thread 'main' panicked at src/io.rs:43:47:              a place, and the statement on the next line
called `Option::unwrap()` on a `None` value             -> stated: called `Option::unwrap()` on a `None` value
ValueError: Unknown mode 'fast'. Should be one of ['train', 'test'].
                                                        -> refused_value 'fast', allowed_values ['train', 'test']
Consult /var/lib/dkms/nvidia/340.108/build/make.log for more information.   -> further_log /var/lib/dkms/...

Only the message of the decisive event is read, with the lines that continue it: what other lines of a log advise is no evidence.
"""

import functools
import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise, takewhile

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, LinesAround, Proof, Value
from forensics.readers.base import nothing_near
from forensics.readers.python.quoted_source import MAX_MESSAGE_LINES, RULE_LINE_PATTERN, TRACEBACK_HEAD
from forensics.readers.python.said import SAID_AMOUNTS, SAID_SHAPES, SAID_WAYS, said_amounts, said_shapes, said_ways
from forensics.readers.words import words

STATED = "stated"  # the sentence that states the problem, where no exception's message is known
ASKED_FOR = "asked"  # what the message asks the reader to do
ALLOWED, REFUSED = "allowed_values", "refused_value"
FURTHER_LOG = "further_log"  # a file in which, as the message says, more of it stands
WRITTEN_PATH = "written_path"  # what could not be opened for writing
OWN_WORDS_FACTS = STATED, ASKED_FOR, ALLOWED, REFUSED, FURTHER_LOG, WRITTEN_PATH, *SAID_AMOUNTS, *SAID_SHAPES, *SAID_WAYS
MESSAGE = "exc_message"
EXCEPTION_MARK = "Error: "  # of a line with an exception and its message
MAX_BLOCK_LINES = 40  # a help text of Open MPI between its two rules
MAX_COMPARED_CHARS = 80  # of a message, which a fact may have cut
MAX_LOG_DISTANCE = 15  # lines: an installer wraps the words of its builder into a few sentences of its own
MAX_CALL_LINES = 14  # frames between a program's call that writes and the library's exception
PATTERNS = patterns_of("own words")
HDF5_TRACE, HDF5_TRACE_END = "HDF5 error back trace", "End of HDF5 error back trace"
WAY = "You (?:can(?!['’]t)|may|might|need to|should|must|have to)|To (?:fix|solve|avoid|overcome|resolve) this"
# Settings by which a library prints more of an error: their names stand in its footers, under whatever error it shows.
FOOTERS = (
    r"\b(?:TORCH_USE_CUDA_DSA|CUDA_LAUNCH_BLOCKING|AMD_SERIALIZE_KERNEL|HIP_LAUNCH_BLOCKING|ASCEND_LAUNCH_BLOCKING|HYDRA_FULL_ERROR"
    r"|OC_CAUSE|JAX_TRACEBACK_FILTERING|JAX_DEBUG_\w+|JAX_NAN\w*|TORCH_LOGS|TORCH_SHOW_CPP_STACKTRACES|TORCH_CPP_LOG_LEVEL"
    r"|TORCH_DISTRIBUTED_DEBUG|NCCL_DEBUG\w*|TORCHDYNAMO_\w+|TORCHINDUCTOR_\w+|TF_CPP_\w+|TF_ENABLE_ONEDNN_OPTS"
    r"|RUST_BACKTRACE|PYTHONFAULTHANDLER|PYTHONASYNCIODEBUG|PYTHONTRACEMALLOC|RAY_\w*(?:LOG|DEBUG|DEDUP)\w*|HF_DEBUG"
    r"|ACCELERATE_\w*DEBUG\w*|WANDB_DEBUG|MLFLOW_\w*TRACE\w*|NUMBA_\w*(?:DEBUG|TRACE|FULL)\w*|TRITON_DEBUG)\b"
    r"|--full-trace|--show-?(?:locals|capture|traceback)|--stacktrace|--trace\b"
)
NO_WAY_OUT_PATTERN = lazy.regex(  # what a message says to those who want to know more of it, or who mend the library
    r"(?i)\breport\b|\bfile (?:a|an) (?:bug|issue)|\bcontact\b|\btry again\b|\bopen an issue|\bsubmit\b|stack ?trace|backtrace"
    rf"|\btraceback|for (?:more|further) (?:info|detail)|\bdebug|{FOOTERS}|verbose"
    r"|\b(?:see|refer to|check|consult|visit|read|look) (?:also )?(?:the|at|in|this|https?:|/)"
    r"|\bPlease (?:see|check|refer|read|visit)"
    r"|\b(?:may|can) (?:also )?(?:see|find|ignore|safely)\b|\bmay or may not\b"
    r"|\b(?:request|add|ask for|vote for) (?:the |this )?(?:support|feature|op)\b|\bcomment on\b"
)
QUOTED = r"(?:'[^'\n]{1,60}'|\"[^\"\n]{1,60}\"|`[^`\n]{1,60}`)"
VALUE = rf"(?:{QUOTED}|[\w./+-]{{1,40}})"
ALLOWED_PATTERN = lazy.regex(
    r"(?:\b(?:[Ss]hould|[Mm]ust|[Hh]as to|[Nn]eeds to) be (?:one|any|either) of|\b[Ee]xpected one of|\bchoose (?:one )?from"
    r"|\bselect one of|\b(?:[Ss]upported|[Aa]vailable|[Vv]alid|[Aa]llowed|[Pp]ossible|[Aa]cceptable)"
    r"(?:(?: \w+){0,3} (?:are|is)|(?: \w+){0,3}(?=:))"
    r"|\b[Cc]hoices(?: are)?|\b[Oo]ptions(?: are)?|\bnot one of|\bInput should be(?= '))"
    rf":? (?P<values>\[[^\]\n]{{2,240}}\]|\{{[^}}\n]{{2,240}}\}}|\({VALUE}, [^)\n]{{2,240}}\)"
    rf"|{VALUE}(?:(?:, (?:or |and )?| or | and | ?\| ?){VALUE}){{1,40}})"
)
REFUSED_PATTERN = lazy.regex(
    rf"\b(?i:unknown|invalid|unsupported|unrecogni[sz]ed|unexpected|no such|illegal)\b[\w :=-]{{0,40}}?(?P<a>{QUOTED})"
    rf"|\b(?:[Gg]ot|[Rr]eceived|but (?:is|was)|given)(?: value)?:? (?P<b>{QUOTED}|[\w.-]{{1,40}})"
    rf"|\binput_value=(?P<e>{QUOTED})|(?P<c>{QUOTED}) (?:is not|was not|not)\b"
    r"|\b(?P<d>(?!(?:are|is|was|were|be|it|this|that|which|currently|and|or)\b)[\w.-]{1,40}) (?:is )?not supported\b"
)


@functools.cache
def _sentence_end() -> re.Pattern[str]:
    verbs = "|".join(sorted(words("order_verbs")))
    return lazy.regex(
        rf"\n|(?<=\S) (?=Available \w+:)|(?<=[.!?])\s+(?=[A-Z\"'`(])|(?<=[:;,)]) (?=(?:{verbs}|{WAY})\b)|(?<=\S) (?=[Pp]lease \w)"
        r"| (?=\[type=\w{1,60}, input_)|(?<=[;,.]) (?=(?:consider \w+ing|try \w+ing|use \S+ instead)\b)"
    )


@functools.cache
def _way_out() -> re.Pattern[str]:
    verbs = "|".join(sorted(words("order_verbs")))
    return lazy.regex(
        r"\A(?:(?:[Hh]int|[Pp]ossible (?:solution|fix)(?:e?s)?|[Ss]olution|[Ff]ix): (?P<hint>\S.{6,})"
        rf"|(?P<order>(?:(?:{verbs})|[Pp]lease (?!make sure your)\w+|consider \w+ing|try \w+ing) .{{4,}}|use \S+ instead\b.*)"
        rf"|(?P<way>(?:{WAY})\b.{{8,}}))"
    )


@functools.cache
def _way_out_if() -> re.Pattern[str]:
    verbs = "|".join(sorted(v.lower() for v in words("order_verbs")))
    return lazy.regex(
        rf"\A(?P<way>If you (?:are sure|want|need|wish|do not|don't|have)\b[^.\n]{{3,140}}?, (?:please )?(?:{verbs}) .{{4,}})"
    )


def whole_message(facts: Fields, proofs: Sequence[Proof], around: LinesAround = nothing_near) -> dict[str, Value]:
    """The message of the exception where its first line only announces what follows; else nothing."""
    message = str(facts.get(MESSAGE, ""))
    if not message or not proofs or not PATTERNS.frame_only.fullmatch(message):
        return {}
    below = _continuation(*_line_of(message, proofs, around))
    if message.startswith(HDF5_TRACE):
        trace = list(takewhile(lambda row: not row.startswith(HDF5_TRACE_END), below))
        return {MESSAGE: trace[-1]} if trace else {}
    if not below:
        return {}
    stated = PATTERNS.root_error.sub("", below[0])
    replaces = PATTERNS.panic.search(f"panicked at {message}") or "root error" in message
    return {MESSAGE: stated if replaces else f"{message} {stated}"}


def own_words(facts: Fields, proofs: Sequence[Proof], around: LinesAround = nothing_near) -> dict[str, Value]:
    """The facts of OWN_WORDS_FACTS that the message of the first line of evidence, or of the exception, tells."""
    if not proofs:
        return {}
    message = str(facts.get(MESSAGE, ""))
    lines, at = _line_of(message, proofs, around)
    framed = _framed(lines, at)
    block = framed or [lines[at], *_continuation(lines, at)]
    text = _joined([message, *block[1:]] if message and not framed else block)
    found: dict[str, Value] = {} if message else _stated(block, bool(framed))
    found |= _asked(text) | _values(text) | _written(facts, lines, at) | said_ways(block, lines, at)
    if message or EXCEPTION_MARK in lines[at]:
        found |= said_amounts(text) | said_shapes(text)
    return found | _further_log(proofs, lines, at)


def _line_of(message: str, proofs: Sequence[Proof], around: LinesAround) -> tuple[Sequence[str], int]:
    """The lines around the one that has the message of the exception, or around the first line of evidence, and its index."""
    start = message[:MAX_COMPARED_CHARS]
    lines, at = around(next((p for p in proofs if start and start in p.text), proofs[0]))
    if not lines:
        return [proofs[0].text], 0
    if not start or start in lines[at]:
        return lines, at
    return lines, next((i for i in range(at, len(lines)) if start in lines[i]), at)


def _framed(lines: Sequence[str], at: int) -> list[str]:
    """The lines between two rules that have line `at` between them, if they are one text; else nothing."""
    above = next((i for i in range(at - 1, max(-1, at - MAX_BLOCK_LINES), -1) if RULE_LINE_PATTERN.match(lines[i])), None)
    below = next((i for i in range(at + 1, min(len(lines), at + MAX_BLOCK_LINES)) if RULE_LINE_PATTERN.match(lines[i])), None)
    rows = [row.strip() for row in lines[above + 1 : below]] if above is not None and below is not None else []
    other = any(PATTERNS.other_output.match(row) for row in rows[:1]) or any(TRACEBACK_HEAD in row for row in rows)
    return rows if any(rows) and not other else []


def _continuation(lines: Sequence[str], at: int) -> list[str]:
    """The lines after line `at` that belong to its message, stripped."""
    below = lines[at + 1 : at + 1 + MAX_MESSAGE_LINES]
    if at < len(lines) and PATTERNS.panic.search(lines[at]):
        return [row.strip() for row in below[:1]]
    if at < len(lines) and (PATTERNS.cmake.match(lines[at]) or lines[at].rstrip().endswith(HDF5_TRACE)):
        indented = takewhile(lambda row: not row.strip() or row[0] in " \t", below)
        return [row.strip() for row in indented if row.strip()]
    rows = (row.strip() for row in below)
    return list(takewhile(lambda row: row and TRACEBACK_HEAD not in row and not PATTERNS.other_output.match(row), rows))


def _joined(rows: Sequence[str]) -> str:
    """The rows of a text as one line for each of its paragraphs."""
    return "\n".join(_one_line(list(part)) for blank, part in groupby(rows, lambda row: not row) if not blank)


def _one_line(rows: Sequence[str]) -> str:
    """The rows of a paragraph as one line; single words below each other are a list, and get commas."""
    words = [" " not in row for row in rows]
    gaps = [", " if one and other else " " for one, other in pairwise(words)]
    return "".join(row + gap for row, gap in zip(rows, [*gaps, ""], strict=True))


def _stated(block: Sequence[str], framed: bool) -> dict[str, Value]:
    """The sentence of a message without an exception that states the problem: what stands behind a place or a level."""
    if framed:
        return {STATED: _sentence_end().split(_joined(block))[0]}
    if PATTERNS.panic.search(block[0]) or PATTERNS.cmake.match(block[0]):
        return {STATED: block[1]} if len(block) > 1 else {}
    level = PATTERNS.prefix.match(block[0])
    return {STATED: _sentence_end().split(level["rest"])[0]} if level else {}


def _asked(text: str) -> dict[str, Value]:
    """The first sentence that names a way out, else the first one that names it for a condition."""
    sentences = [s for s in _sentence_end().split(text) if not NO_WAY_OUT_PATTERN.search(s)]
    for pattern in (_way_out(), _way_out_if()):
        if found := next(filter(None, map(pattern.match, sentences)), None):
            return {ASKED_FOR: next(filter(None, found.groups())).rstrip(". ")[:240]}
    return {}


def _values(text: str) -> dict[str, Value]:
    """The values that may be given, and the one that was."""
    allowed = ALLOWED_PATTERN.search(text)
    if not allowed:
        return {}
    refused = REFUSED_PATTERN.search(text[: allowed.start()]) or REFUSED_PATTERN.search(text[allowed.end() :])
    given = next(filter(None, refused.groups()), None) if refused else None
    return {ALLOWED: allowed["values"].rstrip(".")} | ({REFUSED: given} if given and given not in allowed["values"] else {})


def _further_log(proofs: Sequence[Proof], lines: Sequence[str], at: int) -> dict[str, Value]:
    """The nearest log that is named next to the message, and is not the given one itself."""
    near: Iterable[int] = sorted(
        range(max(0, at - MAX_LOG_DISTANCE), min(len(lines), at + MAX_LOG_DISTANCE)), key=lambda i: abs(i - at)
    )
    given = {p.source.rpartition("/")[2] for p in proofs}
    found = (m["path"] for i in near for m in PATTERNS.further_log.finditer(lines[i]))
    path = next((p for p in found if p.rpartition("/")[2] not in given), None)
    return {FURTHER_LOG: path} if path else {}


def _written(facts: Fields, lines: Sequence[str], at: int) -> dict[str, Value]:
    """The path of the evidence, if the call that failed was to write it."""
    if "path" not in facts:
        return {}
    calls = lines[max(0, at - MAX_CALL_LINES) : at]
    writes = PATTERNS.writer_words.search(str(facts.get(MESSAGE, ""))) or any(map(PATTERNS.writing_call.search, calls))
    return {WRITTEN_PATH: facts["path"]} if writes else {}
