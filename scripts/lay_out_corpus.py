"""benchmarks/public_logs.csv and fetched repositories to labelled folders, as `python -m scripts.train` reads them.

    python -m scripts.lay_out_corpus MIRRORS OUT [--set own_failed]

MIRRORS holds a git directory for each repository, somewhere below a folder called `owner+name`. OUT/<set>/<id>/ gets the log as
it stood at the commit, OUT/<set>/labels.jsonl its label. A repository that is not there is counted and passed over. None of the
texts belongs to this project: they are read where they lie, and nothing of them is committed.

In the manifest, `origin` is the project of a log, where a repository holds those of many; `lines` are the numbers of those lines
that decide.
"""

import argparse
import csv
import email
import email.policy
import json
import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from scripts.train.cases import MIN_QUOTED_CHARS

MANIFEST = Path(__file__).parents[1] / "benchmarks" / "public_logs.csv"
MAIL = "m"  # the path of a message in an archive of a mailing list: its log is in attachments, or in the text itself
KERNEL_LINE = re.compile(rb"^[> |]{0,6}(?:<\d>|[\w :.-]{0,60}kernel: ?)?\[ *\d+\.\d{6}\]", re.MULTILINE)
FAILED_KERNEL = re.compile(
    rb"Kernel panic|\bOops\b|BUG: |Call [Tt]race|[Ll]ockup|blocked for more than|rcu.{0,40}(?:stall|starved)|general protection|"
    rb"Unable to handle|Unhandled fault|Fatal exception|cut here|Hardware Error|I/O error|ring .{0,20}timeout|"
    rb"GPU (?:HANG|hang|reset)|Out of memory|oom-kill|Killed process|timed out|fault"
)
DEAD_KERNEL = re.compile(
    rb"Kernel panic|\bOops\b|BUG: (?!sleeping)|[Ll]ockup - CPU|general protection fault|Unable to handle kernel"
)
COLOUR = re.compile(r"(?:\x1b|\\u001b)\[[0-9;]*[A-Za-z]")  # also as JSON writes it
IN_JSON = re.compile(r'"((?:[^"\\]|\\.)*?)(?:\\n)?",?')
PACKED = (b"\x1f\x8b", b"PK", b"\xfd7zXZ")


def git_folders(mirrors: Path) -> dict[str, Path]:
    """`owner/name` in lower case -> its git directory."""
    found: dict[str, Path] = {}
    for folder in mirrors.iterdir():
        head = next((h for h in sorted(folder.rglob("HEAD")) if (h.parent / "objects").is_dir()), None)
        if head:
            found[folder.name.replace("+", "/", 1).lower()] = head.parent
    return found


def text_of(folder: Path, commit: str, path: str) -> bytes | None:
    """The file at that commit; of a mail its texts with lines of a kernel's log, else what its sender wrote."""
    done = subprocess.run(["git", f"--git-dir={folder}", "show", f"{commit}:{path}"], capture_output=True, check=False)
    if done.returncode:
        return None
    if path != MAIL:
        return done.stdout
    message = email.message_from_bytes(done.stdout, policy=email.policy.default)
    texts = [part.get_payload(decode=True) for part in message.walk() if part.get_content_maintype() in ("text", "application")]
    plain = [t for t in texts if isinstance(t, bytes)]
    return b"\n".join([t for t in plain if KERNEL_LINE.search(t)] or plain[:1]) or None


def agrees(row: Mapping[str, str], data: bytes) -> bool:
    """Does the text of a mail hold a mark of what its label says? A mail has several texts, of which one was labelled."""
    if row["path"] != MAIL:
        return True
    healthy, panic = row["outcome"] != "failed", row["cause"] == "host_os.panic"
    dead = DEAD_KERNEL.search(data) is not None
    return not data.startswith(PACKED) and (not dead if healthy else dead if panic else FAILED_KERNEL.search(data) is not None)


def marked(data: bytes, numbers: str) -> list[str]:
    """The texts of the lines `numbers`, as `12-15 20`, without terminal colours: those that decide. Of a notebook's file, whose
    lines are texts in JSON, what they hold."""
    text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8", "replace")
    lines = COLOUR.sub("", text).split("\n")
    spans = [span.partition("-") for span in numbers.split()]
    texts = [row.strip() for first, _, last in spans for row in lines[int(first) - 1 : int(last or first)]]
    texts = [found[1].replace('\\"', '"').strip() if (found := IN_JSON.fullmatch(row)) else row for row in texts]
    return [row for row in texts if len(row) >= MIN_QUOTED_CHARS]


def main() -> None:
    """Lay everything out that is there, and tell how much that is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--set", dest="chosen", help="only this set")
    given = parser.parse_args()
    folders, counts = git_folders(given.mirrors), Counter[str]()
    labels: dict[str, list[str]] = {}
    with MANIFEST.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if given.chosen in (None, r["set"])]
    for row in rows:
        folder = folders.get(row["repository"].lower())
        data = text_of(folder, row["commit"], row["path"]) if folder else None
        counts["laid out" if data and agrees(row, data) else "not there"] += 1
        if not data or not agrees(row, data):
            continue
        case = given.out / row["set"] / row["id"]
        case.mkdir(parents=True, exist_ok=True)
        (case / Path(row["path"]).name).write_bytes(data)
        label = {"id": row["id"], "primary": row["cause"] or None, "accept": row["accept"].split(), "hard": row["hard"] == "1"}
        label |= {name: row[name] for name in ("path", "kind", "outcome", "how_labelled")}
        label |= {"repository": row["origin"] or row["repository"], "evidence": marked(data, row["lines"])}
        labels.setdefault(row["set"], []).append(json.dumps(label))
    for name, found in labels.items():
        (given.out / name / "labels.jsonl").write_text("\n".join(found) + "\n", encoding="utf-8")
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))


if __name__ == "__main__":
    main()
