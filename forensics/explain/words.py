"""Find terms and codes in a question in a person's own words.

"Training gets stuck, exit code 137" -> the term "hang" (process.stalled, ...), and the exit status 137

signatures/tables/words.csv has the usual names of causes: a term, its phrases, the causes, most likely first, and what to
do first. A question contains a phrase if it has all its words close together, in any order and form, or synonyms of them (`loss
nan`: "nan loss" and
"loss becomes nan"; `memory increases`: "RAM is getting accumulated"). Stop words are ignored. A rare word counts more than a
common one.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from forensics.database import read_rows
from forensics.database.codes import Code, cuda, exit_status, signal, xid

# English words; of Chinese and Japanese, which have no spaces, each pair of neighbouring characters; words of other scripts
WORD_PATTERN = re.compile(
    r"[a-z0-9]+(?:'t)?|[\u3040-\u30ff\u3400-\u9fff](?=([\u3040-\u30ff\u3400-\u9fff]))|[^\W\d_a-z\u3040-\u9fff]+"
)
ERROR_WORD_PATTERN = re.compile(r"([a-z]{3,})error")  # `SSLError` is an SSL error
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
    """The terms that a question uses, those with the rarest words first, at most TERMS_SHOWN."""
    words, table = list(stems(text)), _table()
    scored: list[tuple[float, int]] = []
    for i, (_, phrases) in enumerate(table):
        best = max((_closeness(words, p) * sum(map(_weights().__getitem__, p)) for p in phrases), default=0.0)
        if best:
            scored.append((-best, i))
    scored.sort()
    return tuple(table[i][0] for score, i in scored[:TERMS_SHOWN] if score <= CLOSE * scored[0][0])


def is_named_alone(text: str, term: Term) -> bool:
    """Are the words of a question those of a phrase of `term`, and no others?"""
    words = frozenset(stems(text))
    return any(words == phrase for known, phrases in _table() if known == term for phrase in phrases)


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
