"""Options that several commands have, each defined once.

    @with_options()
    def analyze(paths: Paths, telling: OutputOptions, chosen: Selection) -> None:

has the options --format, --output ... --since ... beside PATHS; `telling` and `chosen` are made of what was given.
"""

import functools
import importlib.util
import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from forensics.cli.output import OutputOptions, check_output
from forensics.core.errors import UsageError
from forensics.report.style import BRIEF_TOKENS, ISSUE_CHARS, TRACKERS

if TYPE_CHECKING:
    from forensics.model import Observation, Source, Warning
    from forensics.report.redaction.names import Names


def names_in(given: "Iterable[Source]", events: "Iterable[Observation]" = ()) -> "Names":
    """The names in all lines of `given`, in the names of its sources and in the facts of `events`.

    All lines are read before the first is printed, so a name has one stand-in from the first line on.
    """
    from forensics.report.redaction.names import NAMING_FACTS, Names

    facts = [(NAMING_FACTS[k], str(v)) for event in events for k, v in event.fields.items() if k in NAMING_FACTS]
    return Names.among(facts, _lines(given))


def _lines(given: "Iterable[Source]") -> Iterator[str]:
    from forensics.correlation.stream import numbered_lines
    from forensics.report.redaction import LineMasker, mask_text

    for source in given:
        yield mask_text(source.name)
        masker = LineMasker()
        for line in numbered_lines(source, _silent):
            yield masker.mask(line.text)


def _silent(_: "Warning") -> None:
    """Ignore a warning: it is reported when the source is read for the answer."""


BRACED_NAME_PATTERN = re.compile(r"(?<![$\w])\{([a-z_]{1,30})\}")


def filled(command: str, values: Mapping[str, str]) -> str:
    """The command of a hook with each name replaced by its value, as one word of the shell; unknown names stay as they are.

    mail -s "{cause}" me < {report}   -> mail -s "'host_memory.oom_cgroup'" me < /home/me/.../watched/...-died.txt
    """
    return BRACED_NAME_PATTERN.sub(lambda m: shlex.quote(values[m[1]]) if m[1] in values else m[0], command)


def warn_of_names(where: str, command: str, known: Iterable[str]) -> None:
    """Say on stderr which names of `command` stand for nothing. A shell and awk have braces of their own, so it is no error."""
    from forensics.cli.output import say

    if wrong := unknown_names(where, command, known):
        say(f"forensics {wrong}")


def unknown_names(where: str, command: str, known: Iterable[str]) -> str:
    """What is wrong with the names in `command`; empty if each is known. `where`: the command and its option."""
    known = sorted(known)
    strange = [name for name in dict.fromkeys(BRACED_NAME_PATTERN.findall(command)) if name not in known]
    if not strange:
        return ""
    stands = "stands" if len(strange) == 1 else "stand"
    names = ", ".join(f"{{{name}}}" for name in strange)
    return f"{where} has {names}, which {stands} for nothing; names are {', '.join(f'{{{name}}}' for name in known)}"


def _can_remember(remember: bool | None) -> bool | None:
    """`remember`; raises UsageError where it is asked for and cannot be done, before anything is read."""
    if remember and importlib.util.find_spec("sqlalchemy") is None:
        from forensics.history.opening import INSTALL_HISTORY

        raise UsageError("--remember needs SQLAlchemy", advice=INSTALL_HISTORY)
    return remember


Remember = Annotated[
    bool | None,
    typer.Option(
        "--remember/--no-remember",
        help="Store the report in your history and show earlier occurrences; `history:` in the configuration always does.",
        show_default=False,
        callback=_can_remember,
    ),
]


HistoryPlace = Annotated[
    str | None,
    typer.Option("--history", help="SQLite file or postgresql:// URL; by default the configured one, else your own."),
]
FORMAT_NAMES = "text, brief, issue, markdown, html, json, jsonl, csv, sarif, junit or github"
Format = Annotated[str, typer.Option("--format", "-f", help=f"{FORMAT_NAMES}.", metavar="FORMAT")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the result to this file instead of stdout.", callback=check_output)
]
OutputPath = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the result to this file or, where it is several files, folder.")
]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 1 for a crash, even if it is only probable.")]
Redact = Annotated[bool, typer.Option("--redact", help="Replace hosts, users, addresses and job names with stand-ins.")]
RedactReport = Annotated[
    bool | None,
    typer.Option(
        "--redact/--no-redact",
        help="Replace hosts, users, addresses and job names with stand-ins; a brief and an issue have them by default.",
    ),
]
RedactMap = Annotated[
    Path | None,
    typer.Option(
        "--redact-map", help="Write which stand-in replaces which name to this file, readable only by you; implies --redact."
    ),
]
MaxChars = Annotated[
    int, typer.Option("--max-chars", min=500, help="Size of a Markdown report; the least important parts are left out to fit.")
]
Tokens = Annotated[int, typer.Option("--tokens", min=200, max=100_000, help="Size of a brief, in tokens of a language model.")]
Tracker = Annotated[str, typer.Option("--tracker", help=f"What an issue is written for: {', '.join(TRACKERS)}.")]
Signatures = Annotated[
    list[Path] | None,
    typer.Option("--signatures", help="A folder of your own cause files, in addition to the built-in ones; repeatable."),
]
Why = Annotated[
    bool,
    typer.Option(
        "--why", help="After the text report, show how much each feature contributed to the first cause and to the second."
    ),
]
Incident = Annotated[int | None, typer.Option("--incident", min=1, help="Show this incident in full instead of the first.")]
EveryIncident = Annotated[bool, typer.Option("--all", help="Show every incident in full, not only the first.")]
Baseline = Annotated[
    list[Path] | None,
    typer.Option("--baseline", help="Logs of a good run: messages that it also has are not unusual; repeatable."),
]
Since = Annotated[
    str | None,
    typer.Option(
        help="Only events from this time on: 2026-11-21T10:00+01:00; 2026-11-21 10:00 or 10:00 as the log's own clock shows it;"
        " -2h, before the last time in the logs; 7d, before now."
    ),
]
Until = Annotated[str | None, typer.Option(help="Only events up to this time.")]
Pid = Annotated[int | None, typer.Option(min=1, help="Only events of this process.")]
Job = Annotated[str | None, typer.Option(help="Only events of this Slurm job, Kubernetes pod or container.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, max=256, help="Threads, or processes for many small files; one per core by default."),
]
Last = Annotated[bool, typer.Option("--last", help="Only the last incident; older ones are not listed.")]


class Selection(NamedTuple):
    """Which events are asked for."""

    since: str | None = None
    until: str | None = None
    pid: int | None = None
    job: str | None = None
    last: bool = False


# A parameter of this type stands for these options: field -> annotation and default.
OPTIONS_OF: dict[type, dict[str, tuple[Any, Any]]] = {
    OutputOptions: {
        "form": (Format, "text"),
        "output": (Output, None),
        "exit_code": (ExitCode, False),
        "redact": (RedactReport, None),
        "redact_map": (RedactMap, None),
        "max_chars": (MaxChars, ISSUE_CHARS),
        "why": (Why, False),
        "incident": (Incident, None),
        "every_incident": (EveryIncident, False),
        "tokens": (Tokens, BRIEF_TOKENS),
        "tracker": (Tracker, TRACKERS[0]),
    },
    Selection: {
        "since": (Since, None),
        "until": (Until, None),
        "pid": (Pid, None),
        "job": (Job, None),
        "last": (Last, False),
    },
}
OF_ONE_QUERY = ("form", "output", "exit_code", "redact", "tokens", "tracker")  # options of commands that ask a batch system


def with_options(*only: str, **instead: tuple[Any, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`function` with the options of a group in place of each parameter whose type is one of OPTIONS_OF.

    `only`: the fields of OutputOptions that are options; all by default. `instead`: another annotation and default of a field.
    """

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        groups: dict[str, tuple[type, list[str]]] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            options = OPTIONS_OF.get(parameter.annotation)
            if options is None:
                parameters.append(parameter)
                continue
            fields = [f for f in options if not only or f in only or parameter.annotation is not OutputOptions]
            groups[name] = parameter.annotation, fields
            for field in fields:
                annotation, default = instead.get(field, options[field])
                parameters.append(
                    inspect.Parameter(field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
                )

        @functools.wraps(function)
        def command(**given: Any) -> None:
            made = {name: group(**{f: given.pop(f) for f in fields}) for name, (group, fields) in groups.items()}
            function(**given, **made)

        in_order = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        command.__signature__ = inspect.Signature(in_order)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in in_order}
        return command

    return decorated
