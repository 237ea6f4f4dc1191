"""The ways out that a message gives word by word: a command to run, a name that was meant, and what the message is as a whole.

fatal: detected dubious ownership in repository at '/w'   -> asked_command "git config --global --add safe.directory /w"
To add an exception for this directory, call:
    git config --global --add safe.directory /w
Error: No such option: --ouput Did you mean --output?     -> misspelt "--ouput", meant "--output"
usage: fit.py [--batch-size N]                            -> misspelt "--batchsize", meant "--batch-size"
fit.py: error: unrecognized arguments: --batchsize 32

A command is taken only where the message itself introduces it, or sets it apart by quotes behind an order: run, try, use.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.model import Value

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
PATTERNS = patterns_of("said ways")
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
    yield from (command for command in _typed(block, below) if not PATTERNS.harmful.search(command))


def _typed(block: Sequence[str], below: Sequence[str]) -> Iterator[str]:
    """The commands in quotes, those behind an order, and the row that a colon introduces."""
    for pattern in (QUOTED_COMMAND_PATTERN, PATTERNS.plain_command):
        for row in block:
            yield from (m["command"].rstrip(" .,") for m in pattern.finditer(row))
    rows = [row for row in (*block, *below[len(block) - 1 :]) if row.strip()]
    for row, following in pairwise(rows):
        typed = TYPED_ROW_PATTERN.match(following)
        if typed and PATTERNS.introduced.search(row) and len(typed["command"]) <= MAX_TYPED_CHARS:
            yield typed["command"]


def _named_as_meant(text: str) -> dict[str, Value]:
    """The name that the message offers, and the nearest one in front of it that it refuses."""
    offered = PATTERNS.meant.search(text)
    if offered is None:
        return {}
    before = [m["quoted"] or m["option"] for m in PATTERNS.given_name.finditer(text[: offered.start()])]
    like = get_close_matches(offered["meant"], before, 1, MIN_LIKENESS)
    return {MEANT: offered["meant"], **({MISSPELT: like[0]} if like else {})}


def _nearest_option(text: str, above: Sequence[str]) -> dict[str, Value]:
    """The option of the usage text above that is most like the refused one."""
    slip = PATTERNS.slip.search(text)
    begin = next((i for i, row in enumerate(above) if PATTERNS.usage_text.match(row)), None)
    if slip is None or begin is None:
        return {}
    known = dict.fromkeys(m[0] for row in above[begin:] for m in USAGE_OPTION_PATTERN.finditer(row))
    like = get_close_matches(slip["given"], [k for k in known if k != slip["given"]], 1, MIN_LIKENESS)
    return {MEANT: like[0], MISSPELT: slip["given"]} if like else {}
