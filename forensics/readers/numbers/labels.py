"""The numbers in a line, each with the label before it and the unit after it.

Epoch 3  loss: 0.25, rss 1.5 GB -> (3, "Epoch"), (0.25, "loss:"), (1.5, "rss", "GB")

The meaning of a number, from its label and its unit.

"train_loss=" -> loss      "elapsed time per iteration (s):" -> step_time in s      "torch.cuda.memory_reserved(1)" -> memory

The vocabulary is that of common training loops: transformers, Keras, Lightning, DeepSpeed, Megatron, fairseq, mmengine,
detectron2, torchvision, ultralytics, TensorFlow, JAX, psutil, and of scripts with their own prints.
"""

import functools
import itertools
import math
import re
from collections.abc import Iterator, Sequence

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from forensics.core import lazy
from forensics.core.limits import BYTES_PER_UNIT
from forensics.data_files.named_parts import patterns_of
from forensics.readers.progress.counters import is_per
from forensics.readers.words import words as word_list

MAX_LINE_NUMBERS = 60  # of one line; further ones are ignored
MAX_LABEL_CHARS = 48  # of a label, from its end
MIN_COLUMN_NUMBERS = 8  # measured: of fewer numbers, float() of each is as fast as the reading of a column

NUMBERS_PATTERNS = patterns_of("numbers")
decode_numbers = Decoder(list[float]).decode
RATE_LABELS = ("throughput", "speed", "rate")  # what is behind one of them is a rate


class Token(Struct, frozen=True):
    """A number of a line: text[at]. `label`: the text before it, back to the previous number: text[labelled]."""

    label: str
    unit: str
    at: slice
    labelled: slice


def tokens(text: str) -> Iterator[Token]:
    """The numbers of a line that have a label or a unit, in order; NaN and infinity are numbers."""
    text = NUMBERS_PATTERNS.call.sub(lambda call: " " * len(call[0]), text) if "(" in text else text
    past = 0
    for found in itertools.islice(NUMBERS_PATTERNS.number_token.finditer(text), MAX_LINE_NUMBERS):
        at = slice(*found.span("number" if found["number"] else "odd"))
        label, unit = _label(text[max(past, at.start - MAX_LABEL_CHARS) : at.start]), found["unit"]
        named_next = bool(unit) and _names_next(text, found.end(), label, unit)
        unit = None if named_next else unit  # `loss 3.38 tokens/s 41000`: the words behind it are the label of what follows
        if label or unit:
            start = text.rfind(label, past, at.start)
            yield Token(label, unit.strip() if unit else "", at, slice(start, start + len(label)))
        past = at.stop if named_next else found.end()


def _names_next(text: str, end: int, label: str, unit: str) -> bool:
    """Is the `unit` up to `end`, a rate behind a number that has its own label, the label of a bare number behind it?"""
    is_rate = unit[0] == " " and "/" in unit and bool(label) and not label.lower().rstrip(" :=").endswith(RATE_LABELS)
    return is_rate and NUMBERS_PATTERNS.bare_number.match(text, end) is not None


def number(text: str) -> float:
    """`1,234.5` -> 1234.5, `-Infinity` -> -inf; NaN for text that is not a number."""
    try:
        return float(text.replace(",", "") if "," in text else text)
    except ValueError:
        return math.nan


def columns(texts: Sequence[str], places: Sequence[slice]) -> list[list[float]]:
    """number() of what stands at each of `places` in `texts`, which differ only in digits: a column for each place. A JSON reader
    parses the numbers of a column at once, in a sixth of the time that float() of each takes."""
    joined, stride = "\n".join(texts), len(texts[0]) + 1
    if len(texts) < MIN_COLUMN_NUMBERS or not joined.isascii():
        return [_column([text[at] for text in texts]) for at in places]
    data, found = joined.encode("ascii"), []
    for at in places:
        width = at.stop - at.start
        array = bytearray(b",") * (len(texts) * (width + 1) + 1)
        for i in range(width):
            array[1 + i :: width + 1] = data[at.start + i :: stride]
        array[0], array[-1] = b"[]"
        try:
            numbers = decode_numbers(array)
        except DecodeError:  # `.5`, `+5`, `nan`
            numbers = []
        # `1,234` is two numbers for JSON.
        found.append(numbers if len(numbers) == len(texts) else _column([text[at] for text in texts]))
    return found


def _column(texts: Sequence[str]) -> list[float]:
    """number() of each of `texts`, read together."""
    try:
        return [*map(float, texts)]
    except ValueError:
        return [*map(number, texts)]


@functools.lru_cache(maxsize=8192)
def _label(front: str) -> str:
    """The label in the text before a number: the part after its last comma, bar or tab; empty if it has no letter."""
    if not any(c.isalpha() for c in front):
        return ""
    cuts = [m.end() for m in NUMBERS_PATTERNS.label_end.finditer(front) if front[m.end() :].strip(" \"':=|")]
    return front[cuts[-1] :].strip() if cuts else front.strip()


INNER_WORD = lazy.regex(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD_OR_NUMBER = lazy.regex(r"[a-z%][a-z0-9]*|\d+")


def words(label: str) -> list[str]:
    """The words of a label in lower case: `MemAllocated=` -> mem, allocated; `s0.loss_cls:` -> s0, loss, cls."""
    spaced = INNER_WORD.sub(" ", label.replace("kB", "kb"))
    return WORD_OR_NUMBER.findall(spaced.lower().replace("_", " "))


SECONDS_BY_UNIT = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "us": 1e-6}
LABELS_PATTERNS = patterns_of("labels")
PER_SECOND_PATTERN = lazy.regex(
    r"\b(?:wps|ups|it/s|\w+/s(?:ec)?\b|\w+(?:[ _]per[ _]|/)s(?:ec(?:ond)?s?)?\b|throughput|"
    r"(?:tok(?:en)?s?|samples?|im(?:age|g)s?|it(?:er)?s?|steps?)_s\b|\w*samplespersec)",
    re.I,
)
STEP_TIME_PATTERN = lazy.regex(
    r"(?:step|iter(?:ation)?|batch|update)[ _]?time|time[ _]?(?:per|/)[ _]?(?:step|iter|batch)|"
    r"sec(?:onds|s)?[ _/]?(?:per|/)?[ _]?(?:step|iter|batch)\b|^time\b|\btime$|^dt$",
    re.IGNORECASE,
)


class Meaning(Struct, frozen=True):
    """What a number measures: its quantity, the name of its series, the base unit ('' for none) and the factor to it.
    `evaluated`: it is of a held-out set. `inverse`: the series has one divided by the number."""

    quantity: str
    name: str
    factor: float = 1.0
    unit: str = ""
    sense: str = ""
    gpu: bool = False
    evaluated: bool = False
    inverse: bool = False  # a tqdm bar prints 1.20it/s, or 1.05s/it if the rate is below one: both become times per step


@functools.lru_cache(maxsize=8192)
def label_meaning(label: str, unit: str, of_memory: bool) -> Meaning | None:
    """The meaning of the number after `label`; None if it belongs to no series. `of_memory`: its line is about memory."""
    last_words = words(label)[-6:]
    if of_memory and (found := _memory(label, last_words, unit)):
        return found
    return _training(label, last_words, unit)


def _training(label: str, said: list[str], unit: str) -> Meaning | None:
    """The meaning in a training loop. `said`: the last words of the label."""
    last, name = set(said), " ".join(said[-2:])
    if "/" in unit:
        what, _, per = unit.lower().partition("/")
        if per in ("s", "sec") and what not in word_list("step_units"):
            return Meaning("rate", unit.lower(), 1.0, unit.lower())
        return Meaning("step_time", "bar's time per step", SECONDS_BY_UNIT.get(what, 1.0), "s", inverse=per in ("s", "sec"))
    if "attempted" in last or (said[-1:] == ["to"] and said[-2:] != ["reducing", "to"] and "loss" not in last):
        return None
    if (
        said[-2:] == ["reducing", "to"]
        or ("scale" in said[-2:] and ("loss" in last or "grad" in last))
        or ("loss" in last and said[-1:] == ["to"])
    ):
        return Meaning("loss_scale", "loss scale")
    if ("norm" in said[-2:] and {"grad", "gradient", "gradnorm"} & last) or "gnorm" in said[-1:]:
        return Meaning("grad_norm", "grad norm")
    if "loss" in said[-3:] and not word_list("no_loss_words") & set(said[-3:]):
        return Meaning("loss", _loss_name(label), evaluated=bool(word_list("held_out_words") & last))
    if PER_SECOND_PATTERN.search(label[-28:]):
        return Meaning("rate", " ".join(said[-4:]), 1.0, "/s")
    if said[-3:] == ["last", "data", "time"]:  # detectron2 prints the mean on the same line
        return None
    if "data" in said[-2:] and said[-1] in ("data", "time") and label[-5:] != "data=" and unit.lower() in ("", *SECONDS_BY_UNIT):
        return Meaning("data_time", "data time", _time_factor(label, unit), "s")
    if STEP_TIME_PATTERN.search(label.strip(" '\":=([|)").split("(")[0].strip()) and not {"data", "total", "eta", "epoch"} & last:
        return Meaning("step_time", "time per step", _time_factor(label, unit), "s")
    if said[-1:] in (["lr"], ["rate"]) and ("lr" in last or "learning" in last):
        return Meaning("lr", "learning rate")
    if unit == "" and said and is_per(label[: label.lower().rfind(said[-1])]):
        return None
    if unit == "" and said and (said[-1] in word_list("step_labels") or name in ("num updates", "global step")):
        return Meaning("step", "step")
    if unit == "" and said[-1:] == ["epoch"]:
        return Meaning("epoch", "epoch")
    return None


def _loss_name(label: str) -> str:
    """`INFO:tensorflow:loss` -> loss, `train loss` -> train loss, `s0.loss_cls` -> s0 loss cls."""
    found = LABELS_PATTERNS.loss_label.findall(label)
    kind, name = found[-1] if found else ("", "loss")
    return " ".join([kind.lower(), *words(name)]).strip()


def _time_factor(label: str, unit: str) -> float:
    if unit:
        return SECONDS_BY_UNIT.get(unit.lower(), 1.0)
    return 1e-3 if re.search(r"\(ms\)|[_ ]ms\b", label) else 1.0


def _memory(label: str, said: list[str], unit: str) -> Meaning | None:
    last = set(said)
    known = (
        word_list("memory_words") & last
        or word_list("held_memory_words") & last
        or said in (["used"], ["available"], ["use"], ["current"], ["peak"])
        or {"bytes", "use"} <= last
    )
    if not known and not {"gb", "free"} <= last and not (unit and said[-1:] in (["ma"], ["ca"])):
        return None
    if word_list("no_memory_words") & last or "/" in unit:
        return None
    in_label = LABELS_PATTERNS.unit.search(label.lower().replace("_", " ").replace("[", " ").replace("(", " "))
    printed_unit = (unit or (in_label["unit"] if in_label else "")).lower()
    if printed_unit in ("ms", "s", "c", "mhz", "w", "sec", "secs", "seconds"):
        return None
    watermark = said == ["max", "mem"] or (said == ["memory"] and not unit)  # detectron2 and torchvision; mmengine
    is_peak = watermark or bool(word_list("peak_memory_words") & last)
    sense = "free" if word_list("free_memory_words") & last else "peak" if is_peak else "used"
    host = {"rss", "vmrss", "maxrss", "host", "cpu", "system", "pss", "uss", "ram"} & last and "gpu" not in last
    device = said in (["current"], ["peak"]) and not unit  # tf.config.experimental.get_memory_info('GPU:0')
    gpu = watermark or device or bool(word_list("gpu_memory_words") & last) or "gb" in last or {"bytes", "use"} <= last
    name = " ".join(w for w in said if not LABELS_PATTERNS.unit.fullmatch(w))
    return Meaning("memory", name, *_scale(printed_unit, said), sense=sense, gpu=gpu and not host)


def _scale(printed_unit: str, said: list[str]) -> tuple[float, str]:
    if printed_unit in ("%", "percent"):
        return 1.0, "%"
    if printed_unit in ("b", "bytes"):
        return 1.0, "bytes"
    if printed_unit:
        return float(BYTES_PER_UNIT[printed_unit[0].upper()]), "bytes"
    return (1024.0, "bytes") if "maxrss" in said else (1.0, "unknown")


def factor_of_unknown_unit(value: float) -> float:
    """The bytes of one unit of a number that was printed without a unit, guessed from its size.

    From 1e8 on it is bytes (psutil, torch.cuda), from 1e6 on kB (/proc, ps), below that MB (mmengine, detectron2). Below 1 it is
    GB: no program holds less than a megabyte.
    """
    if value < 1:
        return float(1 << 30)
    return 1.0 if value >= 1e8 else 1024.0 if value >= 1e6 else float(1 << 20)
