"""The section `capture` of the configuration file: defaults for the options of a captured run (docs/capture.md).

capture: {keep: crash, every: 5s, max_log: 1 GiB}   ->   (("keep", "crash"), ("every_s", 5.0), ("max_log_bytes", 1073741824))
"""

from collections.abc import Callable
from typing import Any

from forensics.core.errors import UsageError
from forensics.core.limits import BYTES_PER_UNIT, SIZE_PATTERN

SECONDS_PER_UNIT = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
KEEP_VALUES = ("crash", "always", "never")
# key of the section -> (option of a captured run, type of its value)
OPTIONS = {
    "keep": ("keep", "keep"),
    "folder": ("folder", "path"),
    "every": ("every_s", "duration"),
    "stall": ("stall_s", "duration"),
    "max_log": ("max_log_bytes", "size"),
    "kernel_log": ("kernel_log", "switch"),
    "env": ("environment", "switch"),
    "warn": ("warn", "switch"),
    "redact": ("redact", "switch"),
    "termination_file": ("termination_file", "path"),
    "on_crash": ("on_crash", "text"),
}


def capture_options(given: dict[str, Any], section_line: int, resolve: Callable[[str], str]) -> tuple[tuple[str, object], ...]:
    """The options that `given` sets, by their names in capture.options. `resolve` makes a path of the file absolute.

    Raises BadFormError, with its line, for an unknown key or a value of another type.
    """
    from forensics.data_files.form import LINE_KEY, BadFormError, keys, text

    keys(given, set(OPTIONS), set(), section_line)
    found: dict[str, object] = {}
    for key, (option, kind) in OPTIONS.items():
        if key not in given:
            continue
        value = given[key]
        if kind == "switch":
            if not isinstance(value, bool):
                raise BadFormError(given[LINE_KEY], f"{key} must be true or false")
            found[option] = value
            continue
        written = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else text(given, key)
        try:
            found[option] = {"path": resolve, "duration": seconds, "size": _size}.get(kind, str)(written)
        except UsageError as error:
            raise BadFormError(given[LINE_KEY], f"{key}: {error.args[0]}") from error
        if kind == "keep" and written not in KEEP_VALUES:
            raise BadFormError(given[LINE_KEY], f"{key} must be one of {', '.join(KEEP_VALUES)}")
    return tuple(found.items())


def seconds(text: str) -> float:
    """The seconds of `5s`, `15m`, `1.5h`, `2d` or a plain number; raises UsageError for other text."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in SECONDS_PER_UNIT else (text, "s")
    try:
        return float(number) * SECONDS_PER_UNIT[unit]
    except ValueError:
        raise UsageError(f"{text!r} is not a duration", advice="write 30s, 15m or 2h") from None


def _size(text: str) -> int:
    found = SIZE_PATTERN.fullmatch(text)
    if not found:
        raise UsageError(f"{text!r} is not a size", advice="write 1 GiB or 500 MiB")
    return int(float(found["number"]) * BYTES_PER_UNIT[found["unit"].upper()])
