"""A coverage-guided fuzzer over the whole pipeline: its corpus starts from `sample_logs/`, plain and packed in each way.

    python -m tests.hostile.fuzz --seconds 3600 --keep FOLDER      # nothing to do without the package `atheris` (the extra `fuzz`)

A finding does not end the run: one input for each kind of it is kept in FOLDER, its traceback beside it. Inputs in `found/` are
those of earlier runs; test_fuzz.py runs them.
"""

import argparse
import hashlib
import importlib
import os
import pkgutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

MAX_BYTES = 16 << 10
SEED_BYTES = 6 << 10


def seeds() -> Iterator[bytes]:
    """The ends and starts of all sample logs, whole cases, and one log packed in each way."""
    from tests.hostile.mutations import cases, logs_of
    from tests.hostile.whole import SEPARATOR
    from tests.sources.wrapping import WAYS

    for form, case in enumerate(cases()):
        logs = list(logs_of(case).values())
        pieces = [p for log in logs for p in (log[:SEED_BYTES], log[-SEED_BYTES:])]
        if len(logs) > 1:
            pieces.append(SEPARATOR.join(log[-(SEED_BYTES // len(logs)) :] for log in logs))
        yield from (bytes([form]) + piece for piece in dict.fromkeys(pieces))
    text = b"Aug 22 03:00:07 node-7 kernel: Out of memory: Killed process 7 (python) total-vm:1kB, anon-rss:1kB\n" * 3
    yield from (b"\0" + way(text) for way in WAYS.values())


def words(anchors: set[str]) -> Iterator[str]:
    """The lines of the fuzzer's dictionary: every text that the scanner looks for."""
    for word in sorted(anchors):
        yield '"' + "".join(chr(b) if b < 128 and chr(b).isalnum() else f"\\x{b:02x}" for b in word.encode()) + '"'


class Keeper:
    """Runs inputs, and keeps the first of each kind of finding in `folder`."""

    def __init__(self, check: Callable[[bytes], None], folder: Path) -> None:
        self.check, self.folder = check, folder
        self.kinds: set[str] = set()
        self.runs = 0

    def __call__(self, data: bytes) -> None:
        self.runs += 1
        try:
            self.check(data)
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__}-{Path(at.filename).stem}-{at.lineno}"
            if kind not in self.kinds:
                self.kinds.add(kind)
                self._keep(kind, data)

    def _keep(self, kind: str, data: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{kind}-{hashlib.sha256(data).hexdigest()[:8]}"
        path.with_suffix(".bin").write_bytes(data)
        path.with_suffix(".txt").write_text(traceback.format_exc())
        print(f"found: {kind}", file=sys.stderr, flush=True)


def main() -> None:
    """Fuzz for the time given. The fuzzer ends the process itself: what was found is told as it is found, and lies in FOLDER."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seconds", type=int, default=60)
    asked.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder of findings")
    asked.add_argument("--corpus", type=Path, help="folder of a corpus to carry on with")
    wanted = asked.parse_args()
    try:
        import atheris  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        print("no fuzzing: the package atheris is not installed (pip install -e '.[fuzz]')")
        return
    os.environ |= {"FORENSICS_DEBUG": "1", "FORENSICS_CONFIG": os.devnull}
    with atheris.instrument_imports(include=["forensics"]):
        import forensics

        for found in pkgutil.walk_packages(forensics.__path__, "forensics."):
            # adapters need what they are adapters for
            if not found.name.startswith(("forensics.cli", "forensics.adapters.")) and found.name[-8:] != "__main__":
                importlib.import_module(found.name)  # some are imported when they are needed, which would be too late
    from forensics import pipeline
    from tests.hostile.whole import check

    knowledge = pipeline.database()
    wanted.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        corpus = wanted.corpus or Path(place) / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        for seed in seeds():
            (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
        dictionary = Path(place) / "words"
        dictionary.write_text("\n".join(words({*knowledge.anchors, *(a for t in knowledge.triggers for a in t.anchors)})) + "\n")
        options = [f"-max_total_time={wanted.seconds}", f"-max_len={MAX_BYTES}", f"-dict={dictionary}", "-timeout=60"]
        keeper = Keeper(lambda data: check(data, knowledge), wanted.keep)
        atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=4096", f"-artifact_prefix={wanted.keep}/", str(corpus)], keeper)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
