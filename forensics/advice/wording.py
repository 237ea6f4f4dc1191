"""Templates of cause files to sentences: {fields} written for people, a sentence with an unknown field left out."""

import re
from collections.abc import Mapping, Sequence

from forensics.database import Cause
from forensics.database.entries import FIELD
from forensics.model import Fields, Value
from forensics.text import shown, size


def seconds(count: float) -> str:
    """Seconds for people: `3 s`, `10 min`, `2 h`; whole units only where nothing is lost."""
    for unit, name in ((3600, "h"), (60, "min")):
        if count >= 2 * unit and count % unit == 0:
            return f"{count / unit:g} {name}"
    return f"{count:g} s"


def tell(name: str, value: Value) -> str:
    """One fact for people, safe to print."""
    if name.endswith("_bytes") and isinstance(value, int):
        return size(value)
    if name.endswith("_s") and isinstance(value, (int, float)):
        return seconds(float(value))
    if isinstance(value, float):
        return f"{value:g}"
    return shown(str(value), 300)


def fields_of(template: str) -> list[str]:
    """The names of the fields that a template needs."""
    return FIELD.findall(template)


def fill(template: str, facts: Fields) -> str | None:
    """The template with this case's facts; None when one is not known."""
    if any(name not in facts for name in fields_of(template)):
        return None
    return FIELD.sub(lambda m: tell(m[1], facts[m[1]]), template)


def fill_command(template: str, facts: Fields) -> str:
    """A command with this case's facts; what is not known stays as `<name>`. Shell metacharacters of a log never get in."""

    def value(found: re.Match[str]) -> str:
        text = str(facts.get(found[1], ""))
        return text if re.fullmatch(r"[\w./:@%+=,-]{1,200}", text) else f"<{found[1]}>"

    return FIELD.sub(value, template)


def first_known(alternatives: Sequence[str], facts: Fields) -> str | None:
    """The first alternative whose fields are all known."""
    return next((text for a in alternatives if (text := fill(a, facts)) is not None), None)


def summary(cause: Cause, facts: Mapping[str, Value]) -> str:
    """What happened, in this case's numbers; the cause's meaning where no sentence fits."""
    sentences = [text for alternatives in cause.summary if (text := first_known(alternatives, facts))]
    return " ".join(sentences) or cause.means
