"""What the words of a question show of the case, and the remedies of a cause that fit them.

"hangs with num_workers=8"   -> a data loader with workers; "more workers (num_workers=8)" is so already and is not told
"""

import re
from collections.abc import Sequence

from forensics.advice.alternatives import SETTING_PATTERN, is_contradicted
from forensics.advice.case import AROUND_FACT, EVIDENCE_FACT
from forensics.database import Remedy
from forensics.database.conditions import Environment, condition_holds, fitting_part
from forensics.model import Fields
from forensics.readers.settings.environment_signs import environment_signs

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


def _is_so_already(remedy: Remedy, question: str, facts: Fields) -> bool:
    """Do the words of the question say that what a remedy sets is set, or that more (or less) of it is there already?"""
    text = " ".join((remedy.do, *remedy.commands[:1]))
    if is_contradicted(text, facts, {}):
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
