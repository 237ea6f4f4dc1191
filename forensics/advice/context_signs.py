"""Where a job ran, from signs in its logs: framework, launcher, scheduler, container, notebook, cloud, device, system.

    slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0   -> Setting("scheduler", "slurm", "slurm-4711.out", 88)
    File "/opt/lib/python3.11/site-packages/keras/src/trainers/..." -> Setting("framework", "keras", "train.log", 12)

Only lines that were kept before are searched: both ends of each source, lines that signatures matched, and their neighbours. A
weak sign (the banner of a library, which another library may import) counts only if there is no other sign of the same fact.
"""

from collections.abc import Iterable, Iterator, Sequence, Set

from forensics.database import compile_literals
from forensics.model import Line, Program, Scan, Setting
from forensics.readers.settings.environment_signs import ContextSign, environment_signs

MAX_SOURCES = 200  # of a folder of thousands, the first ones tell the environment
MAX_SOURCE_LINES = 1500  # of one source
MAX_REGIONS = 3  # chosen by hand: of one kind; each further one of a log was printed where the first ones were
MAX_REGION_LINES = 40  # chosen by hand: a longer record is a table or a dump, and only its head tells where it is from
MIN_MATCHED_CHARS = 200_000  # of all; to look for each text by itself costs more than to compile them all from here on


def context_signs(
    scans: Iterable[Scan], programs: Iterable[Program] = (), foreign: Set[tuple[str, int]] = frozenset()
) -> tuple[Setting, ...]:
    """Each distinct (fact, value) in the logs and in the programs given with them, with its first line. `foreign`: lines,
    (source, number), that tell of other processes."""
    found: dict[tuple[str, str], Setting] = {}
    weak: dict[tuple[str, str], Setting] = {}
    looked_at = [(scan.source, _lines(scan, foreign)) for scan in list(scans)[:MAX_SOURCES]]
    texts = ["\n".join(line.text for line in lines) for _, lines in looked_at]
    for (source, lines), text, signs in zip(looked_at, texts, _possible_signs(texts), strict=True):
        if source.format == "notebook":
            weak.setdefault(("notebook", "jupyter"), Setting("notebook", "jupyter", source.name, 1))
        if source.service:
            weak.setdefault(("container", "docker"), Setting("container", "docker", source.name, source.number_of(1)))
        for sign, line in _of(lines, text, signs):
            kept = weak if sign.weak else found
            kept.setdefault((sign.fact, sign.value), Setting(sign.fact, sign.value, source.name, source.number_of(line.number)))
    without_loader: list[str] = []
    for program in programs:
        for value, number in program.frameworks:
            weak.setdefault(("framework", value), Setting("framework", value, program.name, number))
        for remark in (r for r in program.settings if r.kind == "workers" and r.value):
            weak.setdefault(("loader", "workers"), Setting("loader", "workers", program.name, remark.line))
        if not any(r.kind == "workers" for r in program.settings):
            without_loader.append(program.name)
    if without_loader and ("loader", "workers") not in weak:
        weak["loader", "none"] = Setting("loader", "none", without_loader[0], 1)
    known_facts = {fact for fact, _ in found}
    return (*found.values(), *(s for (fact, _), s in weak.items() if fact not in known_facts))


def _possible_signs(texts: Sequence[str]) -> Iterator[Sequence[ContextSign]]:
    """For each text the signs that may stand in it: all in few texts, else those that one pass over the text finds."""
    every = environment_signs()
    if sum(map(len, texts)) < MIN_MATCHED_CHARS:
        yield from (every for _ in texts)
        return
    import hyperscan

    own = [(i, text) for i, sign in enumerate(every) for text in sign.texts]
    matcher = compile_literals([text.encode() for _, text in own], hyperscan.HS_FLAG_SINGLEMATCH)
    for text in texts:
        found: set[int] = set()
        matcher.scan(text.encode("utf-8", "replace"), match_event_handler=lambda i, *_, f=found: f.add(own[i][0]))
        yield [every[i] for i in sorted(found)]


def _of(lines: list[Line], text: str, signs: Iterable[ContextSign]) -> Iterator[tuple[ContextSign, Line]]:
    """Those of `signs` that one source shows, each with the first line that shows it. `text`: of all its lines."""
    for sign in signs:
        if not any(t in text for t in sign.texts):
            continue
        for line in lines:
            if sign.shown_by(line.text):
                yield sign, line
                break


def _lines(scan: Scan, foreign: Set[tuple[str, int]]) -> list[Line]:
    """The lines of a source that were kept, each once, in order; without the `foreign` ones."""
    known = {line.number: line for line in (*scan.head, *scan.tail)}
    for hit in scan.hits:
        for line in hit.region.lines():
            known.setdefault(line.number, line)
    for regions in scan.regions.values():
        for region in regions[:MAX_REGIONS]:
            for line in region.lines() if region.most_after <= MAX_REGION_LINES else (region.line,):
                known.setdefault(line.number, line)
    own = [n for n in sorted(known) if not foreign or (scan.source.name, scan.source.number_of(n)) not in foreign]
    return [known[n] for n in own[:MAX_SOURCE_LINES]]
