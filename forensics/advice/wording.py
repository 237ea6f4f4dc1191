"""Fill the templates of cause files: {fields} in readable units; a sentence with an unknown field is left out."""

import re
from collections.abc import Mapping, Sequence

from forensics.core import lazy
from forensics.core.text import format_size, printable
from forensics.database import Cause
from forensics.database.entries import TEMPLATE_FIELD_PATTERN
from forensics.model import Fields, Value
from forensics.readers.base import size_bytes
from forensics.readers.capture.own_message import TOLD_FACT
from forensics.readers.platforms.places import pod_and_namespace, workload_of
from forensics.readers.python.failing_code import OWN_SCRIPT, TOP_LEVEL
from forensics.readers.python.frames import cell_number
from forensics.readers.python.library_files import CODE_FACTS, library_folder

# `{oom_kills} kill(s)`: singular or plural by the number; `rank(s) {missing_ranks}`: by the length of the list
NUMBER_NOUN_PATTERN = lazy.regex(r"\{(?P<field>\w+)\} (?P<noun>\w+)\(s\)")
NOUN_LIST_PATTERN = lazy.regex(r"\b(?P<noun>\w+)\(s\) \{(?P<field>\w+)\}")
FIELD_AND_STOP_PATTERN = lazy.regex(rf"{TEMPLATE_FIELD_PATTERN.pattern}(\.(?=\s|$))?")
OPEN_WORDS_PATTERN = lazy.regex(r"<([a-z][\w /:.-]*[\w.])>")  # of a command's template: what its reader fills in
ANY_SCRIPT_PATTERN = lazy.regex(r"(?<![\w/.{-])(?:YOUR_SCRIPT|TRAIN|train)\.py\b")  # in a command's template
SCRIPT_PATTERN = lazy.regex(r"[\w./-]{1,120}\.py")
SCRIPT_FACTS = (OWN_SCRIPT, "own_program", "task", "command")  # that name a script where one was started by its name
NO_NAME_PATTERN = lazy.regex(r"\W+")
CODE_PLACE = "{file}:{line_no}"  # in templates
IN_FUNCTION_PATTERN = lazy.regex(r" in \{(\w*function)\}")
FILE_FACTS = tuple(file for file, _ in CODE_FACTS)
CUDA_NUMBER_PATTERN = lazy.regex(r"\d{4,5}")  # CUDA writes its versions as one number: 11040 is 11.4 (cudaDriverGetVersion)
LONG_SIZE_PATTERN = lazy.regex(r"\d{5,}(?:[KMG]i?B?)")  # Kubernetes writes 91823412Ki
MAX_FACT_CHARS = 300  # three rows of a page: the message of an exception; more of it stands in the evidence
DEATHS = "deaths"  # a fact: how many processes died alike, one after the other
FIXED_WORKLOADS = {"job": "a Job", "pod": "a pod of its own"}  # Kubernetes changes neither limits nor probes of these
KUBECTL, ANY_WORKLOAD, SET_RESOURCES = "kubectl ", "deployment/NAME", "kubectl set resources "
OF_NODES_PATTERN = lazy.regex(r"kubectl(?: -n|.* -A\b| \w+ nodes?\b| cordon| drain| uncordon| get priorityclass)")  # no namespace
AGAIN_SENTENCES = (  # of a container that Kubernetes starts again and again
    "Kubernetes has started it again {restarts} time(s), and waits before the next ({waits_for}).",
    "Kubernetes has started it again {restarts} time(s).",
)
WORKER_SENTENCE = (
    "It was raised in {raised_in_worker}; the traceback of the process that waited for it contains that of the worker."
)
LAST_SAID = "last_said"  # the line of the program's own log that most likely says why, where a platform keeps only a status
SAID_SENTENCE = f"The program itself said: {{{LAST_SAID}}}"
UNSAID_PATTERN = lazy.regex(r"Why [^.]{1,40} not said here\.\Z")  # of a state of which nothing tells the reason
GROWTH_SENTENCE = "Memory grew to the end: {grew_series} from {grew_from_bytes} to {grew_to_bytes} in {grew_readings} readings."
DEATHS_SENTENCE = f"It is the last of {{{DEATHS}}} such deaths {{where}}."
# What stands in the place of a message and is none: the number of errors that follow, a place in a source file
NO_MESSAGE_PATTERN = lazy.regex(r"\s*(?:\(?\d{1,4}\)? root error\(s\) found\.?|\S{1,200}:\d{1,7}(?::\d{1,7})?:?)\s*")
SEVERAL_NUMBERS_PATTERN = lazy.regex(r"\d\D+\d")


def duration_text(count: float) -> str:
    """Seconds for the reader: `3 s`, `10 min`, `2 h`; in larger units only if no digits are lost."""
    for unit, name in ((3600, "h"), (60, "min")):
        if count >= 2 * unit and count % unit == 0:
            return f"{count / unit:g} {name}"
    return f"{count:g} s"


def fact_text(name: str, value: Value) -> str:
    """One fact for the reader, safe to print."""
    if name.endswith("_bytes") and isinstance(value, int):
        return format_size(value)
    if name.endswith("_s") and isinstance(value, (int, float)):
        return duration_text(float(value))
    if name.endswith("_cuda") and CUDA_NUMBER_PATTERN.fullmatch(str(value)):
        major, rest = divmod(int(value), 1000)
        return f"{major}.{rest // 10}"
    if isinstance(value, float):
        return f"{value:g}"
    if LONG_SIZE_PATTERN.fullmatch(str(value)) and (size := size_bytes(str(value))) is not None:
        return format_size(size)
    if name in FILE_FACTS and (library := library_folder(str(value))):
        value = "…" + str(value)[len(library) :]
    return printable(str(value), MAX_FACT_CHARS)


def fields_of(template: str) -> list[str]:
    """The names of the fields that a template needs."""
    return TEMPLATE_FIELD_PATTERN.findall(template)


def fill_template(template: str, facts: Fields) -> str | None:
    """The template with this case's facts; None if one of them is not known."""
    if any(name not in facts for name in fields_of(template)):
        return None
    for file, line in CODE_FACTS:
        if cell := cell_number(str(facts.get(file, ""))):
            template = template.replace(f"{{{file}}}:{{{line}}}", f"cell {cell}, line {{{line}}}")
    template = IN_FUNCTION_PATTERN.sub(lambda m: "" if facts[m[1]] == TOP_LEVEL else m[0], template)
    return FIELD_AND_STOP_PATTERN.sub(
        lambda m: _with_full_stop(fact_text(m[1], facts[m[1]]), m[2] or ""), _plurals(template, facts)
    )


def _with_full_stop(value: str, stop: str) -> str:
    """A value and the full stop after it, which is left out if the value itself ends its sentence: `Try again.`
    A colon at its end is left out: what it announced is another line."""
    value = value.removesuffix(":") if stop else value
    return value if value.endswith((".", "!", "?", "\u2026")) else value + stop


def _plurals(template: str, facts: Fields) -> str:
    """The template with its `(s)` next to a field resolved: `1 kill`, `2 kills`, `rank 3`, `ranks 3, 4`."""
    numbered = NUMBER_NOUN_PATTERN.sub(
        lambda m: f"{{{m['field']}}} {m['noun']}{'' if str(facts[m['field']]) == '1' else 's'}", template
    )
    return NOUN_LIST_PATTERN.sub(
        lambda m: f"{m['noun']}{'s' if SEVERAL_NUMBERS_PATTERN.search(str(facts[m['field']])) else ''} {{{m['field']}}}", numbered
    )


def fill_command(template: str, facts: Fields) -> str:
    """A command with this case's facts; what is not known stands in capitals: `kill {pid}`, `kill <pid>` -> `kill PID`.

    `<` and `>` would be redirections where the command is pasted. Shell metacharacters of a log are never inserted.
    """

    def value(found: re.Match[str]) -> str:
        text = str(facts.get(found[1], ""))
        return text if re.fullmatch(r"[\w./:@%+=,-]{1,200}", text) else found[1].upper()

    if template.startswith(KUBECTL):
        template, facts = _of_pod(template, facts)
    template = ANY_SCRIPT_PATTERN.sub(_script(facts), template)
    open_words = OPEN_WORDS_PATTERN.sub(lambda m: NO_NAME_PATTERN.sub("_", m[1]).upper(), template)
    return TEMPLATE_FIELD_PATTERN.sub(value, open_words)


def _script(facts: Fields) -> str:
    """The script that the case names; else a word that its reader fills in."""
    named = (str(facts.get(name, "")) for name in SCRIPT_FACTS)
    return next((s for s in named if SCRIPT_PATTERN.fullmatch(s)), "YOUR_SCRIPT.py")


def _of_pod(template: str, facts: Fields) -> tuple[str, Fields]:
    """A command of kubectl for the pod of this case: in its namespace, and for what runs it, by its owner or its name."""
    named = pod_and_namespace(str(facts.get("pod", "")))
    pod, namespace = str(named.get("pod", "")), str(named.get("namespace") or facts.get("namespace") or "")
    workload = str(facts.get("workload") or workload_of(pod))
    fixed = FIXED_WORKLOADS.get(workload.partition("/")[0])
    if ANY_WORKLOAD in template and fixed:
        template = f"{KUBECTL}get {workload} -o yaml   # {fixed} cannot be changed: delete it, and create it anew with the change"
    elif workload:
        container = " -c {container}" if SET_RESOURCES in template and "container" in facts else ""  # else of all containers
        template = template.replace(ANY_WORKLOAD, f"{workload}{container}")
    if namespace and "{namespace}" not in template and not OF_NODES_PATTERN.search(template):
        template = template.replace(KUBECTL, f"{KUBECTL}-n {{namespace}} ", 1)
    known = {"pod": pod, "pod_name": pod} if pod else {}
    return re.sub(r"\bPOD\b", "{pod}", template) if pod else template, {**facts, **known, "namespace": namespace}


def first_known(alternatives: Sequence[str], facts: Fields) -> str | None:
    """The first alternative whose fields are all known."""
    return next((text for a in alternatives if (text := fill_template(a, facts)) is not None), None)


def summary(cause: Cause, facts: Mapping[str, Value]) -> str:
    """What happened, in this case's numbers, or as this program told it before; the general meaning if no sentence fits."""
    if TOLD_FACT in facts:
        return str(facts[TOLD_FACT])
    if NO_MESSAGE_PATTERN.fullmatch(str(facts.get("exc_message", ""))):
        facts = {n: v for n, v in facts.items() if n != "exc_message"}
    sentences = [text for alternatives in cause.summary if (text := first_known(alternatives, facts))]
    counted = (
        fill_template(DEATHS_SENTENCE.replace("{where}", "at this limit" if "limit_path" in facts else "in these logs"), facts)
        if sentences
        else None
    )
    again = first_known(AGAIN_SENTENCES, facts) if sentences else None
    raised = fill_template(WORKER_SENTENCE, facts) if sentences and "exc_type" in facts else None
    sentences[1:1] = [*filter(None, (counted, again))]
    said = fill_template(SAID_SENTENCE, facts) if sentences else None
    sentences += [*filter(None, (raised, said))]
    grown = fill_template(GROWTH_SENTENCE, facts) if sentences else None
    sentences[:0] = [grown] if grown else []
    return " ".join([*map(_ended, sentences[:-1]), *sentences[-1:]]) or cause.means


def with_last_said(says: str, facts: Fields) -> str:
    """What is said of a state, with what the program itself said last, if it is known."""
    said = fill_template(SAID_SENTENCE, facts)
    return f"{UNSAID_PATTERN.sub('', says).rstrip()} {said}" if said else says


def _ended(sentence: str) -> str:
    """A sentence in front of another one: with a full stop, where it ends with a message that has none."""
    return sentence if sentence.rstrip("\"'`)").endswith((".", "!", "?", ":", "\u2026")) else f"{sentence}."
