"""What each attempt of a run prints of itself: command line, arguments, job, node, GPUs, limits, commit, and how far it came.

    Namespace(batch_size=64, lr=0.1) ... Epoch 3    -> --batch-size 64, --lr 0.1, reached epoch 3

Wordings: argparse, a shell's trace of commands, variables of Slurm, NCCL and CUDA, git.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.shapes import by_shape
from forensics.data_files.named_parts import every_value, patterns_of
from forensics.model import Region, Scan, Trigger
from forensics.readers.progress.counters import NAMED_COUNT_TEXTS, NO_PROGRESS, Progress, named_counters
from forensics.readers.progress.last_step import last_progress, lines_from_end, running_cell
from forensics.readers.python.quoted_source import code_lines
from forensics.readers.settings import environment, run_settings

TRIGGER = Trigger("attempt", of="attempts")
PATTERNS = patterns_of("attempts")
COMPARED_SETTINGS = {"batch_size": "batch size", "workers": "loader workers", "accumulation": "gradient accumulation steps"}
REACHED, SPEED = "reached", "seconds a step"
MOST_PACED = 2000  # lines from the end of an attempt, the middle one of whose paces is told
MOST_ATTEMPTS = 50  # of a source; a log with more of them is a service's
MOST_VALUES = 4  # of one thing in one attempt
MOST_COUNTED = 20_000  # lines of an attempt that are searched from its end for the step it reached

Said = tuple[str, int]  # a value, and the line that says it


class AttemptFacts(Struct, frozen=True):
    """The facts of one attempt: name -> values with their lines, numbered as in the original file.

    `progress`: of the last attempt only.
    """

    first_line: int
    last_line: int
    said: Mapping[str, tuple[Said, ...]]
    progress: Progress = NO_PROGRESS


def attempt_facts(scan: Scan, spans: Sequence[tuple[int, int]]) -> tuple[AttemptFacts, ...]:
    """What each of the attempts of a source says; `spans`: their first and last lines, in order."""
    if scan.source.format == "notebook":
        return _of_running_cell(scan)
    if not 0 < len(spans) <= MOST_ATTEMPTS:
        return ()
    found: list[dict[str, list[Said]]] = [{} for _ in spans]
    for number, name, value in sorted(_facts(scan)):
        at = next((i for i, (first, last) in enumerate(spans) if first <= number <= last), None)
        if at is not None:
            values = found[at].setdefault(name, [])
            if len(values) < MOST_VALUES and value not in (v for v, _ in values):
                values.append((value, scan.source.number_of(number)))
    for own, (first, last) in zip(found, spans, strict=True):
        if reached := _reached(scan, first, last):
            own[REACHED] = [(reached[0], scan.source.number_of(reached[1]))]
        if pace := _pace(scan, first, last):
            own[SPEED] = [(pace[0], scan.source.number_of(pace[1]))]
    told = [
        AttemptFacts(scan.source.number_of(first), scan.source.number_of(last), {n: tuple(v) for n, v in own.items()})
        for (first, last), own in zip(spans, found, strict=True)
    ]
    return (*told[:-1], replace(told[-1], progress=last_progress(scan, spans[-1][0])))


def _of_running_cell(scan: Scan) -> tuple[AttemptFacts, ...]:
    """The progress of the cell that ran when a notebook was saved; no other facts of a notebook are read."""
    running, number_of = running_cell(scan), scan.source.number_of
    return (AttemptFacts(number_of(running), number_of(scan.lines), {}, last_progress(scan, running)),) if running else ()


def _facts(scan: Scan) -> Iterator[tuple[int, str, str]]:
    """(line, name, value) of everything that says how and where an attempt was started."""
    for region in scan.regions.get(TRIGGER.kind, ()):
        yield from ((region.number, n, v) for n, v in _of_line(region))
    for region in scan.regions.get(environment.TRIGGER.kind, ()):
        yield from ((region.number, n, v) for n, v in environment.read(region) if n != "/dev/shm")
    for region in scan.regions.get(run_settings.TRIGGER.kind, ()):
        # arguments are read from the whole command
        if not (PATTERNS.namespace.search(region.text) or PATTERNS.command.search(region.text)):
            settings = ((COMPARED_SETTINGS[k], f"{v:g}") for k, v in run_settings.read(region) if k in COMPARED_SETTINGS)
            yield from ((region.number, n, v) for n, v in settings)


def _of_line(region: Region) -> Iterator[tuple[str, str]]:
    text = region.text[:8000]
    if namespace := PATTERNS.namespace.search(text):
        arguments = PATTERNS.argument.finditer(namespace[1])
    else:
        arguments = PATTERNS.option.finditer(text) if PATTERNS.command.search(text) else iter(())
    for match in (m for m in arguments if not PATTERNS.secret.search(m[1])):
        yield "--" + match[1].replace("_", "-"), match[2].strip("'\"")
    yield from every_value("attempt facts", text)


def _reached(scan: Scan, first: int, last: int) -> Said | None:
    """The last step or epoch in the lines from `first` to `last`, if the sample has it; none of the code that a log quotes."""
    for number, text in lines_from_end(scan, NAMED_COUNT_TEXTS, MOST_COUNTED, first, last):
        counted = named_counters(text)
        if counted and not code_lines(scan, (number,)):
            return ", ".join({c.unit: f"{c.unit} {c.now}" for c in counted}.values()), number
    return None


@by_shape
def _pace_place(text: str) -> tuple[slice, slice] | None:
    """Where the number and the unit of a pace stand."""
    found = PATTERNS.pace.search(text)
    return (slice(*found.span("number")), slice(*found.span("unit"))) if found else None


def _pace(scan: Scan, first: int, last: int) -> Said | None:
    """How long a step took, as the run prints it: the middle one of its last lines."""
    paces: list[tuple[float, int]] = []
    for number, text in lines_from_end(
        scan, (b"/it", b"it/s", b"/step", b"step/s", b"steps/s", b"batch"), MOST_PACED, first, last
    ):
        place = _pace_place(text)
        if place and (pace := float(text[place[0]])):
            paces.append((pace if text[place[1]].startswith("s/") else 1 / pace, number))
    if not paces:
        return None
    middle = sorted(paces)[len(paces) // 2]
    return f"{middle[0]:.2g} s", middle[1]
