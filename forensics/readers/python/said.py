"""What a message itself says of the way out: amounts to raise or lower, shapes that differ, a command or a name that was meant.

The amounts that it compares, and what follows from them:

max_tokens (2496) is larger than max_batched (2048)         -> larger_name "max_tokens" 2496, smaller_name "max_batched" 2048
heads (32) must be divisible by parallel size (3)           -> divisor_name "parallel size", divisor_choices "1, 2, 4, ..."
batch size 10 is not divisible by 4                         -> multiple_choices "8 or 12"
num must be 1 <= num <= 4, not 5                            -> ranged_name "num", allowed_range "1 to 4", refused_amount "5"
requires 8 devices, but only 4 are available                -> asked_amount "8", asked_things "devices", offered_amount "4"
You requested gpu: [1] But your machine only has: [0]       -> asked_choice "[1]", asked_things "gpu", offered_choice "[0]"
num_classes (10) does not match the length of CLASSES (1)   -> equal_name "num_classes" 10, other_name "length of CLASSES" 1
X has 10 features, but 12 features are expected             -> expected_amount "12", expected_things "features", got_amount "10"

A name that tells what there is - a maximum, a number of samples, a size of the model - cannot be raised, and its amount is told
as `fixed_amount` in place of `smaller_name`.

How the two shapes of a message differ, for the step that makes them fit.

could not be broadcast together with shapes (32,10) (32,)       -> long_shape "(32, 10)", short_shape "(32,)", extra_axis 1
expected [8, 3, 224, 225] and got [8, 224, 225, 3]              -> axis_order "0, 2, 3, 1"
size of tensor a (8100) must match the size of tensor b (4050)  -> size_ratio 2
size of tensor a (25) must match the size of tensor b (24)      -> size_gap 1

The ways out that a message gives word by word: a command to run, a name that was meant, and what the message is as a whole.

fatal: detected dubious ownership in repository at '/w'   -> asked_command "git config --global --add safe.directory /w"
To add an exception for this directory, call:
    git config --global --add safe.directory /w
Error: No such option: --ouput Did you mean --output?     -> misspelt "--ouput", meant "--output"
usage: fit.py [--batch-size N]                            -> misspelt "--batchsize", meant "--batch-size"
fit.py: error: unrecognized arguments: --batchsize 32

A command is taken only where the message itself introduces it, or sets it apart by quotes behind an order: run, try, use.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.model import Value

SAID_AMOUNTS = (
    *("larger_name", "larger_amount", "smaller_name", "smaller_amount", "fixed_name", "fixed_amount"),
    *("dividend", "divided_name", "divisor", "divisor_name", "divisor_choices", "multiple_choices"),
    *("ranged_name", "allowed_range", "refused_amount"),
    *("asked_amount", "asked_things", "offered_amount", "asked_choice", "offered_choice"),
    *("equal_name", "equal_amount", "other_name", "other_amount"),
    *("expected_amount", "expected_things", "got_amount"),
)
MAX_COMPARISON_CHARS = 600  # of a message: what compares two amounts stands at its beginning
MAX_DIVISORS = 8  # divisors of one number that a sentence lists
MAX_DIVIDEND = 1 << 20  # chosen by hand: sizes of layers, batches and pictures are below
MORE = r"(?:larger|greater|bigger|longer|higher|more|smaller|less|lower|shorter|fewer)"
PATTERNS = patterns_of("said amounts")
ORDER_PATTERN = lazy.regex(rf"\b(\w+) (?:[<>]=?|[≤≥]|(?:must|should|has to) be {MORE} than(?: or equal to)?) (\w+)\b")
STRIPPED_PATTERN = lazy.regex(
    r"(?i)\A(?:(?:the|your|an?|but|and|that|has|have|expected|error|(?:user-)?specified|value|cannot have|disabled|total)\s+)+"
    r"|(?<!\s)\s+(?:is|was|of|has|have|must|should|be|to|with|the)\Z|[`']"
)


def said_amounts(text: str) -> dict[str, Value]:
    """The facts of SAID_AMOUNTS in a message: those of the first comparison that it makes."""
    for found_in in (_divided, _ranged, _asked, _unequal, _expected, _compared):
        if found := found_in(text[:MAX_COMPARISON_CHARS]):
            return found
    return {}


def _divided(text: str) -> dict[str, Value]:
    """Both numbers, and which divisors or multiples would do. The sizes of a model are what they are, and a divisor without a
    name is one that a library wants."""
    tried = (p.search(text) for p in (PATTERNS.divided, PATTERNS.divided_behind))
    told = next((m.groupdict() for m in tried if m and _is_no_divisor(int(m["amount_b"]), int(m["amount_a"]))), None)
    if told is None:
        return {}
    whole, part = int(told["amount_a"]), int(told["amount_b"])
    name_a, name_b = _plain(told.get("name_a")), _plain(told.get("name_b"))
    named: dict[str, Value] = {"dividend": whole, "divisor": part}
    named |= {"divided_name": name_a} if name_a else {}
    named |= {"divisor_name": name_b} if name_b else {}
    of_model = bool(PATTERNS.model_size.search(name_a))
    if name_b or of_model:
        named["divisor_choices"] = _listed([n for n in range(1, whole + 1) if whole % n == 0][:MAX_DIVISORS])
    if not of_model:
        low = whole // part * part
        named["multiple_choices"] = _listed([n for n in (low, low + part) if n])
    return named


def _is_no_divisor(part: int, whole: int) -> bool:
    return 0 < part < MAX_DIVIDEND and 0 < whole < MAX_DIVIDEND and whole % part != 0


def _listed(numbers: list[int]) -> str:
    texts = [*map(str, numbers)]
    return f"{', '.join(texts[:-1])} or {texts[-1]}" if len(texts) > 1 else "".join(texts)


def _ranged(text: str) -> dict[str, Value]:
    found = PATTERNS.range.search(text)
    name = _plain(found["name_a"]) if found else ""
    if not found or not name:
        return {}
    low, high = found["low_a"] or found["low_b"], found["high_a"] or found["high_b"]
    refused: dict[str, Value] = {"refused_amount": found["refused"]} if found["refused"] else {}
    return {"ranged_name": name, "allowed_range": f"{low} to {high}"} | refused


def _asked(text: str) -> dict[str, Value]:
    if choice := PATTERNS.choice.search(text):
        return {"asked_choice": choice["asked"], "asked_things": choice["things"], "offered_choice": choice["offered"]}
    found = PATTERNS.offered.search(text)
    if not found or int(found["asked"]) <= int(found["offered"]):
        return {}
    return {"asked_amount": found["asked"], "asked_things": found["things"].strip(), "offered_amount": found["offered"]}


def _unequal(text: str) -> dict[str, Value]:
    found = PATTERNS.unequal.search(text)
    names = (_plain(found["name_a"]), _plain(found["name_b"])) if found else ("", "")
    if not found or not all(names) or found["amount_a"] == found["amount_b"] or PATTERNS.tensor_words.search(text):
        return {}
    first: dict[str, Value] = {"equal_name": names[0], "equal_amount": _told(found["amount_a"])}
    return first | {"other_name": names[1], "other_amount": _told(found["amount_b"])}


def _expected(text: str) -> dict[str, Value]:
    found = PATTERNS.expected.search(text)
    if not found:
        return {}
    expected, got = found["expected_a"] or found["expected_b"], found["got_a"] or found["got_b"]
    things: dict[str, Value] = {"expected_things": found["things_a"] or found["things_b"]}
    return things | {"expected_amount": expected, "got_amount": got} if expected != got else {}


def _compared(text: str) -> dict[str, Value]:
    both = _both_amounts(text)
    sizes = [float(amount.replace("_", "")) for _, amount in both]
    if len(both) != 2 or sizes[0] == sizes[1] or not all(_plain(name) for name, _ in both):
        return {}
    (large, most), (small, least) = both if sizes[0] > sizes[1] else reversed(both)
    told: dict[str, Value] = {"larger_name": _plain(large), "larger_amount": _told(most)}
    if PATTERNS.given.search(small):
        return told | {"fixed_name": _plain(small), "fixed_amount": _told(least)}
    return told | {"smaller_name": _plain(small), "smaller_amount": _told(least)}


def _both_amounts(text: str) -> list[tuple[str, str]]:
    """The two names with their amounts that a message compares, or that it gives behind the rule which they break."""
    if found := PATTERNS.compared.search(text):
        return [(found["name_a"], found["amount_a"]), (found["name_b"], found["amount_b"])]
    rule, pairs = ORDER_PATTERN.search(text), {m["name"]: m["amount"] for m in PATTERNS.pair.finditer(text)}
    return [(name, pairs[name]) for name in rule.groups() if name in pairs] if rule else []


def _told(amount: str) -> str:
    return amount.removesuffix(".0")


def _plain(name: str | None) -> str:
    """A name without the words of the sentence around it."""
    text = STRIPPED_PATTERN.sub("", STRIPPED_PATTERN.sub("", name or "").strip()).strip()
    if text.endswith(("Error", "Exception", "Warning")):
        return ""
    identifier = re.search(r"(?:\A|\s)(\w*_\w*)\Z", text)
    return identifier[1] if identifier else text


SAID_SHAPES = "long_shape", "short_shape", "extra_axis", "extra_size", "axis_order", "size_ratio", "size_gap"
MAX_SHAPES_CHARS = 600  # of a message: its shapes stand at its beginning
MAX_RATIO = 64  # chosen by hand: a larger quotient of two sizes is by chance
MAX_HALVING_GAP, MIN_GAP_SIZE = 2, 7  # what halving and doubling an odd size loses; below it a gap tells nothing
Shape = tuple[int, ...]


def said_shapes(text: str) -> dict[str, Value]:
    """The facts of SAID_SHAPES for the first two different shapes of a message."""
    if two := PATTERNS.two_sizes.search(text):
        small, large = sorted((int(two["a"]), int(two["b"])))
        whole = 1 < small < large and large % small == 0 and large // small <= MAX_RATIO
        near = MIN_GAP_SIZE <= small < large <= small + MAX_HALVING_GAP
        return {"size_ratio": large // small} if whole else {"size_gap": large - small} if near else {}
    told = (tuple(map(int, m["sizes"].split(","))) for m in PATTERNS.shape.finditer(text[:MAX_SHAPES_CHARS]))
    shapes = list(dict.fromkeys(told))[:2]
    if len(shapes) < 2:
        return {}
    first, second = shapes
    if len(first) == len(second):
        return _reordered(first, second)
    return _with_extra_axis(*sorted(shapes, key=len, reverse=True))


def _reordered(first: Shape, second: Shape) -> dict[str, Value]:
    """The order of the axes of one that makes the other, where it is the only one."""
    unique = len(set(first)) == len(first)
    if sorted(first) != sorted(second) or not unique:
        return {}
    return {"axis_order": ", ".join(str(first.index(size)) for size in second)}


def _with_extra_axis(long: Shape, short: Shape) -> dict[str, Value]:
    """The axis that the longer shape has besides those of the shorter one: the last of those that it may be."""
    axis = next((i for i in reversed(range(len(long))) if long[:i] + long[i + 1 :] == short), None)
    if axis is None:
        return {}
    return {"long_shape": _text(long), "short_shape": _text(short), "extra_axis": axis, "extra_size": long[axis]}


def _text(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


WHOLE_MESSAGE = "whole_message"  # the decisive line with the lines that continue it, for conditions of remedies
ASKED_COMMAND = "asked_command"  # what the message tells the reader to type
MEANT, MISSPELT = "meant", "misspelt"  # the name that there is, and the one that was given
SAID_WAYS = WHOLE_MESSAGE, ASKED_COMMAND, MEANT, MISSPELT
MAX_TYPED_CHARS = 160  # of a command that a person types; what is longer is output
MAX_ROWS_BELOW = 8  # between a message and the command that it gives
MAX_USAGE_ROWS = 60  # of a usage text above the message that refuses an option
MIN_LIKENESS = 0.7  # of two names that differ by a slip: one letter in four may differ
# Programs with the orders that install, set or fetch something, as messages ask for them.
PROGRAMS = (
    r"(?:(?:pip3?|python3? -m pip|uv pip|poetry|conda|mamba|micromamba|brew|dnf|yum|gem|cargo|composer|bundle|npm|pnpm|yarn"
    r"|apt(?:-get)?|flatpak|snap|spack|rustup) (?:-\w+ )*(?:install|add|create|update|upgrade|init|activate|config|ci|login|env"
    r"|sync|lock|toolchain|target|component|get|default)|python3? -m (?:spacy|nltk|ensurepip|playwright|venv|build)"
    r"|git (?:config|submodule (?:update|init)|lfs|fetch|init)|go (?:get|mod|install)|docker (?:login|pull)"
    r"|helm (?:repo|dependency)|systemctl (?:start|enable|daemon-reload|status)|modprobe|ldconfig|export|source|chmod"
    r"|ssh-keygen -[FtH]|playwright|huggingface-cli|hf|wandb|aws (?:configure|sso)|gcloud (?:auth|init|components)|az login"
    r"|nvidia-ctk|module|ulimit|sysctl|jupyter|dvc (?:pull|fetch)|terraform init|dotnet|nltk\.download"
    r"|Rscript|import Pkg|install\.packages)"
)
WAYS = patterns_of("said ways")
TYPED_ROW_PATTERN = lazy.regex(rf"\A\s*(?:[$#>] )?(?P<command>(?:sudo )?{PROGRAMS}\b[ (][^\n]*\S)\s*\Z")
QUOTED_COMMAND_PATTERN = lazy.regex(
    r"(?i:\b(?:run(?:ning)?|try|use|using|execute|with|via|by(?: calling)?|call|type|do|either)\b(?: the command)?:? )"
    rf"(?P<quote>[`'\"])(?P<command>(?:sudo )?{PROGRAMS}\b[ (]"
    rf"(?:(?!(?P=quote)(?:\W|\Z))[^\n]){{2,{MAX_TYPED_CHARS}}})(?P=quote)"
)
USAGE_OPTION_PATTERN = lazy.regex(r"(?<![\w-])--?[A-Za-z][\w-]*")


def said_ways(block: Sequence[str], lines: Sequence[str], at: int) -> dict[str, Value]:
    """The facts of SAID_WAYS. `block`: the rows of the message; `lines`: those around it, of which `at` is the decisive one."""
    text = "\n".join(block)
    found: dict[str, Value] = {WHOLE_MESSAGE: text}
    below = [row.strip() for row in lines[at + 1 : at + 1 + MAX_ROWS_BELOW]]
    if command := next(_commands(block, below), ""):
        found[ASKED_COMMAND] = command
    return found | (_named_as_meant(text) or _nearest_option(text, lines[max(0, at - MAX_USAGE_ROWS) : at]))


def _commands(block: Sequence[str], below: Sequence[str]) -> Iterator[str]:
    """The commands of the message that do no harm."""
    yield from (command for command in _typed(block, below) if not WAYS.harmful.search(command))


def _typed(block: Sequence[str], below: Sequence[str]) -> Iterator[str]:
    """The commands in quotes, those behind an order, and the row that a colon introduces."""
    for pattern in (QUOTED_COMMAND_PATTERN, WAYS.plain_command):
        for row in block:
            yield from (m["command"].rstrip(" .,") for m in pattern.finditer(row))
    rows = [row for row in (*block, *below[len(block) - 1 :]) if row.strip()]
    for row, following in pairwise(rows):
        typed = TYPED_ROW_PATTERN.match(following)
        if typed and WAYS.introduced.search(row) and len(typed["command"]) <= MAX_TYPED_CHARS:
            yield typed["command"]


def _named_as_meant(text: str) -> dict[str, Value]:
    """The name that the message offers, and the nearest one in front of it that it refuses."""
    offered = WAYS.meant.search(text)
    if offered is None:
        return {}
    before = [m["quoted"] or m["option"] for m in WAYS.given_name.finditer(text[: offered.start()])]
    like = difflib.get_close_matches(offered["meant"], before, 1, MIN_LIKENESS)
    return {MEANT: offered["meant"], **({MISSPELT: like[0]} if like else {})}


def _nearest_option(text: str, above: Sequence[str]) -> dict[str, Value]:
    """The option of the usage text above that is most like the refused one."""
    slip = WAYS.slip.search(text)
    begin = next((i for i, row in enumerate(above) if WAYS.usage_text.match(row)), None)
    if slip is None or begin is None:
        return {}
    known = dict.fromkeys(m[0] for row in above[begin:] for m in USAGE_OPTION_PATTERN.finditer(row))
    like = difflib.get_close_matches(slip["given"], [k for k in known if k != slip["given"]], 1, MIN_LIKENESS)
    return {MEANT: like[0], MISSPELT: slip["given"]} if like else {}
