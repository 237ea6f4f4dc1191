"""Find terms and codes in a question in a person's own words.

"Training gets stuck, exit code 137" -> the term "hang" (process.stalled, ...), and the exit status 137

signatures/tables/words.csv has the usual names of causes: a term, its phrases, the causes, most likely first, and what to
do first. A question contains a phrase if it has all its words close together, in any order and form, or synonyms of them (`loss
nan`: "nan loss" and
"loss becomes nan"; `memory increases`: "RAM is getting accumulated"). Stop words are ignored. A rare word counts more than a
common one.

The causes that a question in words may mean: a linear model over all texts that are known about causes.

"VRAM still occupied after the run" -> gpu_memory.leak, gpu_memory.other_process
"Training stops at epoch 3"         -> nothing: these words name no cause

The features of a text are its words (as stems), its pairs of neighbouring words, and the pieces of three to five letters of its
words, so that a misspelt word still counts. Each has a weight for the causes that it speaks for or against. `python -m
scripts.fit_questions` learns the weights (question.weights); nothing is fitted when a question is asked.

What the words of a question show of the case, and the remedies of a cause that fit them.

"hangs with num_workers=8"   -> a data loader with workers; "more workers (num_workers=8)" is so already and is not told
"""

import functools
import itertools
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

import msgspec
from msgspec import Struct

from forensics.advice.case import AROUND_FACT, EVIDENCE_FACT
from forensics.advice.contradicted import SETTING_PATTERN, contradiction_of, fitting_part
from forensics.database import Database, Remedy, read_rows
from forensics.database.codes import Code, cuda, exit_status, signal, xid
from forensics.database.conditions import Environment, condition_holds
from forensics.model import Fields
from forensics.readers.settings.environment_signs import environment_signs

# English words; of Chinese and Japanese, which have no spaces, each pair of neighbouring characters; words of other scripts
WORD_PATTERN = re.compile(
    r"[a-z0-9]+(?:'t)?|[\u3040-\u30ff\u3400-\u9fff](?=([\u3040-\u30ff\u3400-\u9fff]))|[^\W\d_a-z\u3040-\u9fff]+"
)
ERROR_WORD_PATTERN = re.compile(r"(?<![a-z])([a-z]{3,}?)error")  # `SSLError` is an SSL error
NAME_PATTERN = re.compile(r"\b(?:[A-Z][a-z]+){3,}")  # `TooManyOpenFiles` is four words; two, as `PyTorch`, are often one name
CAPITAL_PATTERN = re.compile(r"\B(?=[A-Z])")
SYNONYMS = {  # stem -> the stems that are used instead; a word may become several
    "vram": "gpu memory", "ram": "memory", "rss": "memory",
    **dict.fromkeys(("grow", "grew", "ris", "accumulat", "climb", "creep", "balloon"), "increas"),
    **dict.fromkeys(("stuck", "hung", "freez", "frozen", "froz", "unfreez", "stall", "halt", "stagnat"), "hang"),
    **dict.fromkeys(("nvidia", "geforc", "rtx", "titan"), "gpu"),
    **dict.fromkeys(("dead", "dying", "crash"), "die"),
    **dict.fromkeys(("fre", "clear", "clean"), "releas"),
    "dataset": "data", "dataloader": "data loader",
    **dict.fromkeys(("can't", "couldn't", "unabl", "fail", "impossibl"), "cannot"),
}  # fmt: skip
# Stop words. `not`, `no`, `out` and `off` are none: they change the meaning.
PASSED_OVER = frozenset(
    re.findall(
        r"\w+",
        """
        a an the is are be been being am was were it its i we you he they my our your this that these of in on at to for from with
        by as and or how why what when while during where which get gets getting got keep keeps kept become becomes always
        sometimes suddenly often then than very so too just please help any some has have had does do did will would usage
        """,
    )
)
WORD_SUFFIXES = ("ings", "ing", "edly", "ied", "ies", "ed", "es", "s")
MIN_STEM_CHARS = 3  # "us" of "using" and "be" of "being" are no words
AMONG_OTHERS = 0.8  # chosen by hand: of a phrase with a word in it: `out of (shared) memory` says less than `shared memory`
WORDS_BETWEEN = 1  # other word that the words of a phrase may have among them
MIN_TELLING_WORDS = 3  # chosen by hand: `gpu memory increas`; two words stand side by side by chance
TERMS_SHOWN = 3  # chosen by hand: a question has a word or two of the field
CLOSE = 0.7  # of the best term's score, from which another term is shown as well
PLAIN_PATTERN = re.compile(r"[\w\s.,;?!'\"()+-]*\Z")
CODE_NUMBER_PATTERN = r"(-?\d{1,5})\b"
CODES = (
    (re.compile(rf"(?i)\bxid[ :#]*{CODE_NUMBER_PATTERN}"), xid),
    (re.compile(rf"(?i)\bcuda error[ :(]*{CODE_NUMBER_PATTERN}"), cuda),
    (
        re.compile(rf"(?i)\b(?:exit\w*|return\w*|status|rc)\b(?:[ :=(]|with|code|status|of|is){{0,24}}{CODE_NUMBER_PATTERN}"),
        exit_status,
    ),
    (re.compile(rf"(?i)\bcode[ :=(]{{1,3}}{CODE_NUMBER_PATTERN}"), exit_status),
    (re.compile(r"(?i)\bsignal[ :#]*(\d{1,2})\b"), signal),
    (re.compile(r"\b(SIG(?:KILL|SEGV|ABRT|BUS|TERM|ILL|FPE|INT|HUP|PIPE|XCPU|XFSZ|SYS))\b"), signal),
)


class Term(Struct, frozen=True):
    """A usual name of causes. `causes`: the ids of the causes that it may mean, most likely first. `first`: what to do first
    where nothing else is known, with `commands` for it."""

    name: str
    means: str
    causes: tuple[str, ...]
    first: str = ""
    commands: tuple[str, ...] = ()


def codes_in(text: str) -> tuple[Code, ...]:
    """The codes that a question names and that may indicate a cause, each once: `exits with 137`, `Xid 79`."""
    found = (code for form, look in CODES for hit in form.finditer(text) for code in look(hit[1]) if code.causes)
    return tuple(dict.fromkeys(found))


def terms_in(text: str) -> tuple[Term, ...]:
    """The terms that a question uses, those with the rarest words first, at most TERMS_SHOWN.

    `gpu memory grows` has all words of `memory grows`, and says more: the term of a phrase that is a part of another's is none.
    """
    words, table = list(stems(text)), _table()
    scored: list[tuple[float, int, frozenset[str]]] = []
    for i, (_, phrases) in enumerate(table):
        weighed = ((_closeness(words, p) * sum(map(_weights().__getitem__, p)), sorted(p)) for p in phrases)
        best, phrase = max(weighed, default=(0.0, []))
        if best:
            scored.append((-best, i, frozenset(phrase)))
    scored = sorted((s for s in scored if not any(s[2] < other[2] for other in scored)), key=lambda s: s[:2])
    return tuple(table[i][0] for score, i, _ in scored[:TERMS_SHOWN] if score <= CLOSE * scored[0][0])


def is_named_alone(text: str, term: Term) -> bool:
    """Are the words of a question those of a phrase of `term`, and no others?"""
    words = frozenset(stems(text))
    return any(words == phrase for known, phrases in _table() if known == term for phrase in phrases)


def says_most(text: str, term: Term) -> bool:
    """Has a question a phrase of `term` of MIN_TELLING_WORDS or more words close together? It then says more than the likeness
    of its single words."""
    words = list(stems(text))
    phrases = next((phrases for known, phrases in _table() if known == term), ())
    return any(len(p) >= MIN_TELLING_WORDS and _closeness(words, p) for p in phrases)


def _closeness(words: list[str], phrase: frozenset[str]) -> float:
    """1 if `words` have all words of `phrase` side by side, AMONG_OTHERS if with few others among them, 0 if they do not."""
    if not phrase.issubset(words):
        return 0.0
    if any(phrase.issubset(words[i : i + len(phrase)]) for i in range(len(words))):
        return 1.0
    return AMONG_OTHERS if any(phrase.issubset(words[i : i + len(phrase) + WORDS_BETWEEN]) for i in range(len(words))) else 0.0


def is_plain(text: str) -> bool:
    """Has `text` none of the signs that programs print between words?"""
    return PLAIN_PATTERN.match(text) is not None


def stems(text: str) -> Iterator[str]:
    """The stems of the words of `text`, with synonyms replaced and without stop words: `Training gets killed` -> train, kill."""
    apart = NAME_PATTERN.sub(lambda name: CAPITAL_PATTERN.sub(" ", name[0]), text)
    for found in WORD_PATTERN.finditer(ERROR_WORD_PATTERN.sub(r"\1 error", apart.lower())):
        word = found[0] + (found[1] or "")
        if word not in PASSED_OVER:
            stem = _stem(word)
            yield from SYNONYMS.get(word, SYNONYMS.get(stem, stem)).split()


def _stem(word: str) -> str:
    for suffix in WORD_SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= MIN_STEM_CHARS and not word.endswith("ss"):
            word = word.removesuffix(suffix) + ("y" if suffix in ("ied", "ies") else "")
            break
    if len(word) > MIN_STEM_CHARS and word[-1] == word[-2] and word[-1] not in "lsze":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > MIN_STEM_CHARS else word


def _commands(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(" || ") if part)


@functools.cache
def _table() -> tuple[tuple[Term, tuple[frozenset[str], ...]], ...]:
    """Each term with its phrases as sets of words."""
    return tuple(
        (
            Term(row["term"], row["means"], tuple(row["causes"].split()), row["first"], _commands(row["commands"])),
            tuple(frozenset(stems(phrase)) for phrase in row["phrases"].split(";")),
        )
        for row in read_rows("words")
    )


@functools.cache
def _weights() -> dict[str, float]:
    """The weight of each word in the table: the fewer terms use it, the more it counts (inverse document frequency)."""
    seen = Counter(w for _, phrases in _table() for w in frozenset().union(*phrases))
    return {w: math.log(1 + len(_table()) / n) for w, n in seen.items()}


NOTHING = "nothing"  # in questions.csv and words.csv: the words name no cause
PIECE_CHARS = (3, 5)  # shortest and longest piece of a word
PIECE = "#"  # stands before each piece of a word, and before no word
WEIGHTS_PATH = Path(__file__).with_name("question.weights")
SURE_SCORE = -0.35  # of 45 lines of programs that nobody knows, all but 3 are below it
LIKELY_SCORE = -0.6  # of plain words; of 241 questions, no right one is below it
NEIGHBOUR_SCORE = -0.65  # of a cause behind the first one. Measured: of 216 questions 1 has its right cause only below it
STEP = 0.01  # of the whole numbers in which weights are kept


class Weights(msgspec.Struct, frozen=True):
    """The model as it is kept: `bias` of each of `causes`; of each feature its inverse document frequency and its weights, both
    in steps of STEP, as pairs of a cause's number and the weight."""

    causes: tuple[str, ...]
    bias: tuple[float, ...]
    features: dict[str, tuple[int, tuple[tuple[int, int], ...]]]


def likely_causes(question: str, database: Database, most: int) -> tuple[str, ...]:
    """Ids of the causes that a question may mean, most likely first; NOTHING alone if its words name none. Empty if none of its
    words is known. Causes that were not there when the weights were learned are never among them, and behind the first one none
    that its words hardly speak for."""
    scores = _scores(question)
    ranked = sorted(scores, key=lambda c: (-scores[c], c))
    ranked = [c for i, c in enumerate(ranked) if not i or scores[c] >= NEIGHBOUR_SCORE]
    return (NOTHING,) if ranked[:1] == [NOTHING] else tuple(c for c in ranked if c in database.causes)[:most]


def is_sure(question: str) -> bool:
    """Are the words of a question so like those that are said of a cause that this is more than a guess?"""
    return max(_scores(question).values(), default=-1.0) >= (LIKELY_SCORE if is_plain(question) else SURE_SCORE)


def features_of(text: str) -> Set[str]:
    """The features of a text: words, pairs of words, and pieces of words behind PIECE."""
    words = list(stems(text))
    found = {*words, *map(" ".join, itertools.pairwise(words))}
    for word in words:
        padded = f" {word} "
        for size in range(PIECE_CHARS[0], PIECE_CHARS[1] + 1):
            found.update(PIECE + padded[i : i + size] for i in range(len(padded) - size + 1))
    return found


def parts_of(features: Set[str]) -> Iterator[list[str]]:
    """Words with pairs, and pieces: each is brought to length 1 by itself."""
    yield sorted(f for f in features if f[0] != PIECE)
    yield sorted(f for f in features if f[0] == PIECE)


@functools.cache
def kept_weights() -> Weights:
    """The weights that were learned."""
    return msgspec.msgpack.decode(zlib.decompress(WEIGHTS_PATH.read_bytes()), type=Weights)


def _scores(question: str) -> dict[str, float]:
    """Cause -> above 0 if the question means it, about -1 if not; empty if no word of it is known."""
    kept = kept_weights()
    words, pieces = parts_of(features_of(question) & kept.features.keys())
    if not words:
        return {}
    scores = list(kept.bias)
    for part in (words, pieces):
        length = math.sqrt(sum(kept.features[name][0] ** 2 for name in part))
        for name in part:
            frequency, weights = kept.features[name]
            for number, weight in weights:
                scores[number] += STEP * weight * frequency / length
    return dict(zip(kept.causes, scores, strict=True))


FIRST_WORDS = 3  # chosen by hand: `lower learning rate`; what is done stands at the beginning of a step
MORE_PATTERN = re.compile(r"(?i)\b(?:more|raise|increase|larger|longer|higher)\b")
LESS_PATTERN = re.compile(r"(?i)\b(?:smaller|fewer|less|lower|reduce|halve|shorter)\b")
BATCH_SIZE_PATTERN = re.compile(r"(?i)\bbatch[ _-]?size\W{0,3}(?:of|is|to)?\W{0,2}(\d{1,6})\b")
NUMBER_SAID = r"\W{0,3}(?:(?:of|is|to|at)\W)?\W?(\d{1,9})\b"  # behind the name of a setting


def environment_of(question: str) -> Environment:
    """The facts of the environment that the words of a question show, as a line of a log would."""
    found: dict[str, set[str]] = {}
    for sign in environment_signs():
        if sign.shown_by(question):
            found.setdefault(sign.fact, set()).add(sign.value)
    return found


def fitting_the_question(remedies: Sequence[Remedy], question: str) -> list[tuple[Remedy, str]]:
    """The remedies with their actions: those that the question's words ask for first, and none that they say is so already, or
    that they rule out."""
    if not question:
        return [(remedy, remedy.do) for remedy in remedies]
    facts: Fields = {EVIDENCE_FACT: question, AROUND_FACT: question}
    if batch := BATCH_SIZE_PATTERN.search(question):
        facts = {**facts, "batch_size": int(batch[1])}
    environment = environment_of(question)
    told = []
    for remedy in remedies:
        action = fitting_part(remedy.do, facts, environment)
        excluded = any(condition_holds(c, facts, environment) for c in remedy.unless)
        if action and not excluded and not _is_so_already(remedy, question, facts):
            told.append((remedy, action))
    asked_for = [r for r, _ in told if r.when and all(condition_holds(c, facts, environment) for c in r.when)]
    return sorted(told, key=lambda entry: entry[0] not in asked_for)


def told_first_of(remedies: Sequence[tuple[Remedy, str]], first: str) -> list[tuple[Remedy, str]]:
    """The remedies, of which those that begin as what a term says to do `first` stand in front."""
    words = frozenset(itertools.islice(stems(first), FIRST_WORDS))
    return sorted(remedies, key=lambda told: len(words.intersection(itertools.islice(stems(told[1]), FIRST_WORDS))) < FIRST_WORDS)


def _is_so_already(remedy: Remedy, question: str, facts: Fields) -> bool:
    """Do the words of the question say that what a remedy sets is set, or that more (or less) of it is there already?"""
    text = " ".join((remedy.do, *remedy.commands[:1]))
    if contradiction_of(text, facts, {}):
        return True
    return any(_is_beyond(found[0], remedy.do, question) for found in SETTING_PATTERN.finditer(text))


def _is_beyond(setting: str, action: str, question: str) -> bool:
    name, _, value = map(str.strip, setting.partition("="))
    said = re.search(re.escape(name).replace("_", "[ _-]?") + NUMBER_SAID, question, re.IGNORECASE) if value.isdigit() else None
    if said is None:
        return False
    own, asked = int(said[1]), int(value)
    more, less = bool(MORE_PATTERN.search(action)), bool(LESS_PATTERN.search(action))
    return own == asked or (more and own >= asked) or (less and not more and own <= asked)
