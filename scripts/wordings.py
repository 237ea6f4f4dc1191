"""Look up the wordings of signatures in the source code of the programs that print them.

    python -m scripts.wordings ./checkouts                                     wordings of a program that `source` does not name
    python -m scripts.wordings ./checkouts --record signatures/verified.csv    where each was found

message: 'Killed process {pid} ({task:text}) total-vm:{vm_kb}kB'   ->   'Killed process ', found in linux/mm/oom_kill.c

A folder of sources has one folder for each program, which may have a file VERSION with its version. Source code splits a text
at the holes and at line ends, so the longest plain text of a wording is searched. A text that is too short to be specific
counts only in the file that the signature's `source` names: `refcount_t: underflow` in lib/refcount.c. A text that a program
composes is searched in pieces, but only in the program that `source` names.
"""

import argparse
import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import hyperscan
from msgspec import Struct

from forensics.core import lazy
from forensics.database import builtin_folder, read_folders
from forensics.database.anchors import plain_texts
from forensics.database.compiled import compile_literals
from forensics.database.entries import Signature
from forensics.database.files import is_within
from forensics.database.message import message_parts

VERIFIED_HEADER = ("signature", "text", "program", "version", "file")
MIN_TEXT_CHARS = 12  # shorter ones stand in many programs by chance
MIN_PIECE_CHARS = 16  # of a text that is put together
# In the file that the source names a shorter one is enough, and a still shorter one that is more than letters: "total_vm".
MIN_NAMED_TEXT_CHARS, MIN_NAMED_SIGN_CHARS = 10, 7
SIGN = lazy.regex(r"[^a-z ]")
FILE_NAME = lazy.regex(r"[\w/-]+\.(?:cpp|cc|cuh|cu|c|h|py|pyx|go|ts|js|java|rs|txt|po)\b")
TWO_WORDS = lazy.regex(r"\w[ _]\S|\S: \w")
MAX_FILE_BYTES = 64 << 20  # no file of source text is longer; what is, is data
JOINED_LITERALS_PATTERN = lazy.regex(rb"\"\s{0,200}\\?\n\s{0,200}[a-zA-Z]?\"")  # "a text" "that goes on in the next line"
MIN_OWN_CHARS, MAX_OWNERS = 22, 2  # a text that is one program's own
QUOTING = lazy.regex(r"test|vendor|third_party|docs?/|doc/|\.strings$|^strings\.txt$|\.(?:md|rst|ya?ml|po|mo|mdx|txt|patch)$")
PUT_TOGETHER = lazy.regex(r"[^a-zA-Z '/_-]+")  # where a program may put texts together
WORDS = lazy.regex(r"[\w-]+")
SPLIT = lazy.regex(r"[^\w '/.,:;!()\[\]<>=+*#@&%`-]+")
BINARY = frozenset((".so", ".o", ".a", ".png", ".gz", ".whl", ".ipynb", ".json", ".csv", ".svg", ".js", ".css", ".html"))


class SourceMatch(Struct, frozen=True, order=True):
    """The text of a signature was found in `file` of `program`."""

    signature: str
    text: str
    program: str
    version: str
    file: str


def texts_of(signature: Signature) -> list[str]:
    """The longest plain text of each message, and all plain texts of a pattern; only long ones with two words or more."""
    wordings = [_longest(m) for m in signature.messages]
    pattern = signature.written_pattern if wordings else signature.pattern
    wordings += [piece.lower() for text in plain_texts(pattern) for piece in SPLIT.split(text)] if pattern else []
    return list(dict.fromkeys(t for t in map(str.strip, wordings) if len(t) >= MIN_TEXT_CHARS and TWO_WORDS.search(t)))


def _longest(message: str) -> str:
    """The longest plain text of a message; a choice counts with its first text."""
    plain = [p for part in message_parts(message) for p in ([part] if isinstance(part, str) else part.choices)]
    pieces = [piece for text in plain for piece in SPLIT.split(text)]
    return max(pieces, key=len, default="").lower()


def _short_texts(signature: Signature) -> list[str]:
    """Every plain text of a signature with a minimum length, longest first: enough in the file that its source names."""
    texts = [
        p for m in signature.messages for part in message_parts(m) for p in ([part] if isinstance(part, str) else part.choices)
    ]
    pieces = {t.strip().lower() for text in (*texts, *plain_texts(signature.pattern)) for t in SPLIT.split(text)}
    enough = [p for p in pieces if len(p) >= (MIN_NAMED_SIGN_CHARS if SIGN.search(p) else MIN_NAMED_TEXT_CHARS)]
    return sorted((p for p in enough if TWO_WORDS.search(p)), key=lambda p: (-len(p), p))


def look_up_named(signatures: Iterable[Signature], folder: Path) -> list[SourceMatch]:
    """One place for each signature with a text in a file that its source names."""
    wanted: dict[str, list[tuple[Signature, str, list[str]]]] = {}
    for signature in signatures:
        texts = _short_texts(signature)
        for name in set(FILE_NAME.findall(signature.source)) if texts else ():
            wanted.setdefault(name.rpartition("/")[2], []).append((signature, name, texts))
    found: dict[str, SourceMatch] = {}
    for program in sorted(p for p in folder.iterdir() if p.is_dir()):
        for path in _files(program):
            for signature, name, texts in wanted.get(path.name, ()):
                if signature.id in found or not f"/{path.as_posix()}".endswith(f"/{name}"):
                    continue
                said = path.read_text(encoding="utf-8", errors="replace").lower()
                text = next((t for t in texts if t in said), None)
                if text:
                    inside = path.relative_to(program).as_posix()
                    found[signature.id] = SourceMatch(signature.id, text, program.name, _version(program), inside)
    return sorted(found.values())


def look_up_programs(signatures: Iterable[Signature], folder: Path) -> list[SourceMatch]:
    """One place for each signature in a program that its source names, for messages that the program composes.

    "Fatal Python error: %s" and "Bus error" are two texts there: one piece is enough, if it has a minimum length.
    """
    programs = {p: _program_words(p.name) for p in sorted(folder.iterdir()) if p.is_dir()}
    wanted: dict[Path, dict[str, list[Signature]]] = {}
    for signature in signatures:
        words = set(WORDS.findall(signature.source.lower()))
        for program in (p for p, names in programs.items() if names & words):
            for piece in _pieces(signature):
                wanted.setdefault(program, {}).setdefault(piece, []).append(signature)
    found: dict[str, SourceMatch] = {}
    for program, pieces in wanted.items():
        order = list(pieces)
        matcher = compile_literals([t.encode() for t in order], hyperscan.HS_FLAG_SINGLEMATCH)
        for path in _files(program):
            for i in _held(matcher, path):
                for signature in pieces[order[i]]:
                    inside = path.relative_to(program).as_posix()
                    found.setdefault(signature.id, SourceMatch(signature.id, order[i], program.name, _version(program), inside))
    return sorted(found.values())


def _program_words(name: str) -> set[str]:
    """The words with which a `source` may name the program of a folder: "torch_npu-src" is also torch_npu."""
    return {name.lower(), name.lower().removesuffix("-src"), *(["python"] if name == "cpython" else [])}


def _pieces(signature: Signature) -> list[str]:
    plain = [
        p for m in signature.messages for part in message_parts(m) for p in ([part] if isinstance(part, str) else part.choices)
    ]
    pieces = {p.strip().lower() for text in (*plain, *plain_texts(signature.pattern)) for p in PUT_TOGETHER.split(text)}
    return sorted(p for p in pieces if len(p) >= MIN_PIECE_CHARS and TWO_WORDS.search(p))


def look_up(signatures: Iterable[Signature], folder: Path) -> tuple[list[SourceMatch], list[tuple[Signature, str]]]:
    """The matches in `folder`, one file for each text and program, and the texts that are in no source."""
    owners: dict[str, list[Signature]] = {}
    for signature in signatures:
        for text in texts_of(signature):
            owners.setdefault(text, []).append(signature)
    order = list(owners)
    matcher = compile_literals([t.encode() for t in order], hyperscan.HS_FLAG_SINGLEMATCH) if order else None
    places: dict[tuple[int, str], str] = {}
    for program in sorted(p for p in folder.iterdir() if p.is_dir()) if matcher else ():
        for path in _files(program):
            for i in _held(matcher, path):
                places.setdefault((i, program.name), path.relative_to(program).as_posix())
    found = [
        SourceMatch(s.id, order[i], program, _version(folder / program), file)
        for (i, program), file in places.items()
        for s in owners[order[i]]
    ]
    known = {i for i, _ in places}
    verified = {f.signature for f in found}
    found += look_up_named((s for s in signatures if s.id not in verified), folder)
    verified.update(f.signature for f in found)
    found += look_up_programs((s for s in signatures if s.id not in verified), folder)
    verified.update(f.signature for f in found)
    lacking = [(s, text) for i, text in enumerate(order) if i not in known for s in owners[text] if s.id not in verified]
    return sorted(found), lacking


def not_named(found: Iterable[SourceMatch], signatures: Iterable[Signature]) -> Iterator[tuple[Signature, SourceMatch]]:
    """Matches in only one or two programs that the `source` of the signature does not name.

    Binaries are not searched, because they contain linked libraries, and neither are tests and documents, which quote others.
    """
    owners = {s.id: s for s in signatures}
    places: dict[tuple[str, str], list[SourceMatch]] = {}
    for one in found:
        if len(one.text) >= MIN_OWN_CHARS and one.signature in owners:
            places.setdefault((one.signature, one.text), []).append(one)
    for (signature, _), places_of_text in places.items():
        source = owners[signature].source.lower()
        if len({_short_name(f.program) for f in places_of_text}) > MAX_OWNERS or any(_names(source, f) for f in places_of_text):
            continue
        said = next((f for f in places_of_text if not QUOTING.search(f.file.lower())), None)
        if said:
            yield owners[signature], said


def _names(source: str, found: SourceMatch) -> bool:
    """Does `source` name the program or the file of `found`?"""
    file = found.file.lower().rpartition("/")[2].partition(".")[0]
    return _short_name(found.program) in source or found.program.lower() in source or (len(file) > 4 and file in source)


def _short_name(program: str) -> str:
    return re.split(r"[-_.]", program.lower(), maxsplit=1)[0]


def _held(matcher: object, path: Path) -> list[int]:
    try:
        data = path.read_bytes()
    except OSError:
        return []
    seen: list[int] = []
    matcher.scan(JOINED_LITERALS_PATTERN.sub(b"", data), match_event_handler=lambda i, *_: seen.append(i))  # type: ignore[attr-defined]
    return seen


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if path.suffix not in BINARY and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
                yield path


def _version(program: Path) -> str:
    path = next((program / n for n in ("VERSION", "VERSION.commit") if (program / n).is_file()), None)
    return path.read_text(encoding="utf-8", errors="replace").split("\n")[0].strip()[:40] if path else ""


def best_matches(found: Iterable[SourceMatch], signatures: Iterable[Signature]) -> list[SourceMatch]:
    """One place for each signature: in the program that its source names, else in the first that holds it."""
    named = {s.id: s.source.lower() for s in signatures}
    best: dict[str, SourceMatch] = {}
    for one in sorted(found, key=lambda f: (f.program.lower() not in named.get(f.signature, ""), -len(f.text), f)):
        best.setdefault(one.signature, one)
    return sorted(best.values())


def matches_csv(found: Iterable[SourceMatch]) -> str:
    """The table of `found`, a row each."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(VERIFIED_HEADER)
    table.writerows((f.signature, f.text, f.program, f.version, f.file) for f in sorted(found))
    return out.getvalue()


def main() -> None:
    """Look up the wordings of all signatures, or of those in one folder; exit with 1 if a `source` names the wrong program."""
    parser = argparse.ArgumentParser(description="Look up the wordings of signatures in the source code of programs.")
    parser.add_argument("sources", type=Path, help="a folder with one folder for each program")
    parser.add_argument("--own", type=Path, help="only signatures in this folder of cause files")
    parser.add_argument("--record", type=Path, help="write where they were found to this table")
    parser.add_argument("--notes", action="store_true", help="also tell which wordings are in none of the sources")
    asked = parser.parse_args()
    causes, _ = read_folders([builtin_folder(), *([asked.own] if asked.own else [])])
    signatures = [s for c in causes for s in c.signatures if asked.own is None or is_within(s.place.path, asked.own)]
    found, lacking = look_up(signatures, asked.sources)
    wrong = list(not_named(found, signatures))
    for s, one in wrong:
        print(f"{s.place}: {s.id}: source does not name {one.program} {one.file}, which says {one.text!r}")
    for s, text in lacking if asked.notes else ():
        print(f"{s.place}: {s.id}: {text!r} is in none of the sources (note)")
    best = best_matches(found, signatures)
    if asked.record:
        asked.record.write_text(matches_csv(best), encoding="utf-8")
    print(f"{len(signatures)} signatures: {len(best)} found in the sources, {len(lacking)} texts in none", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
