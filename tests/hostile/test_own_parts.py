"""No pattern takes quadratic time on texts made of its own parts, by the methods with which the code uses it."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import forensics
from tests.hostile.own_parts import bad_texts
from tests.hostile.patterns import all_patterns

SHORT, LONG = 1 << 10, 1 << 14  # characters; a stage sees 16 KiB of a line
SUSPECT_S = 0.0002  # of a short text: what is linear takes some 20 us
LIMIT_S = 0.15  # of a long text, as in test_patterns: what is linear takes a millisecond, what is quadratic half a second
TRIALS = 3
USED = re.compile(r"\b([A-Z][A-Z0-9_]{2,})\.(search|match|fullmatch|finditer|findall|sub|subn|split)\b")
LEFT = "forensics.report.redaction."  # ten rules that mask are still quadratic, on lines that a report quotes
AT_THE_START = {"match", "fullmatch"}


def uses() -> dict[str, set[str]]:
    """The methods with which each constant is used, by its name."""
    found: dict[str, set[str]] = {}
    for path in Path(forensics.__path__[0]).rglob("*.py"):
        for name, method in USED.findall(path.read_text()):
            found.setdefault(name, set()).add(method)
    return found


def cost(search: Callable[..., object], text: str | bytes) -> float:
    best = 1.0
    for _ in range(TRIALS):
        begun = time.thread_time()
        search(text)
        best = min(best, time.thread_time() - begun)
        if not SUSPECT_S < best < 4 * LIMIT_S:
            break
    return best


def slowest(pattern: "re.Pattern[str] | re.Pattern[bytes]", methods: set[str]) -> tuple[float, str]:
    """The time that a long text of its own parts takes, and how it begins. What is slow before is not tried longer."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    worst = 0.0, ""
    for method in {m if m in AT_THE_START else "search" for m in methods or {"search"}}:
        search = getattr(pattern, method)
        for place, short in enumerate(bad_texts(text, SHORT)):
            for size in (SHORT, LONG // 8, LONG):
                made = short if size == SHORT else [*bad_texts(text, size)][place]
                took = cost(search, made if isinstance(pattern.pattern, str) else made.encode("latin-1", "replace"))
                worst = max(worst, (took * LONG / size, made[:40]) if took > SUSPECT_S else worst)
                if took < SUSPECT_S * size / SHORT:
                    break
                if took > LIMIT_S:
                    return worst
    return worst


@pytest.mark.parametrize(
    ("pattern", "is_slow"),
    [
        (r"a\s*[:= ]\s*\d", True),
        (r"\w+\.py", True),
        (r"\bcgroups?\b.*\s/x", True),
        (r"(?<!\w)\w+\.py", False),
        (r"a\s*+[:=]?\s*+\d", False),
    ],
)
def test_what_is_quadratic_is_found(pattern: str, is_slow: bool) -> None:
    assert (slowest(re.compile(pattern), set())[0] > LIMIT_S / 5) == is_slow


@pytest.mark.slow  # two minutes of processor time
def test_no_pattern_of_the_code_is_quadratic_in_its_own_parts() -> None:
    used = uses()
    patterns = {name: (p, used.get(re.split(r"\W", name.rpartition(".")[2])[0], set())) for name, p in all_patterns().items()}
    assert len(patterns) > 400
    took = {name: slowest(*given) for name, given in patterns.items() if not name.startswith(LEFT)}
    assert [f"{name}: {s:.2f} s on {text!r}..." for name, (s, text) in took.items() if s > LIMIT_S] == []
