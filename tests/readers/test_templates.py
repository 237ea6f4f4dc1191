"""Lines to templates, and two runs to what only the bad one says. The logs are made."""

import importlib
import json
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.core.text import last_frame
from forensics.model import Difference, Source
from forensics.readers import templates
from forensics.readers.templates import Templates, split_rows, template, whole_lines
from forensics.report.difference import passages, render_difference, shorten_passage
from forensics.report.style import Style
from tests.conftest import ROOT, text_source


def alarming(text: str) -> bool:
    """What stands for the database's test of trouble here."""
    return any(word in text.lower() for word in ("error", "cannot", "fail", "killed", "died", "refused", "lost"))


def difference(good: list[Source], bad: list[Source]) -> Difference:
    return templates.difference(good, bad, alarming)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2026-11-21 10:00:07,120 INFO saved /data/run7/model-0120.pt in 3.2 s", "saved <path>/model-<n>.pt in <n> s"),
        ("[rank3]: pool at 0x7f3a01c0 and 7f3a01c0 of ~/runs/a", "pool at <hex> and <hex> of <path>"),
        ("kernel 123c3bde-420f-4fb6-abf1-8c1ef4b5ccdc restarted", "kernel <uuid> restarted"),
        ("peer 10.0.0.7:29500 of 0000:65:00.0 at fe80:0000:1:2::7", "peer <address> of <address> at <address>"),
        ("loss nan lr 1e-05 scale -2.5", "loss nan lr <n> scale <n>"),
        (" 45%|####      | 45/100 [00:01<00:02, 30.1it/s]", "<n>%|<bar>| <n>/<n> [<time><<time>, <n>it/s]"),
        ("at 2026-11-21T10:00:00.123+01:00 from https://hub.example.com/x?y=1", "at <time> from <url>"),
        ("~~~~~^^^^^^^^^", ""),
        ("", ""),
    ],
)
def test_what_varies_is_told_by_its_kind(line: str, expected: str) -> None:
    assert template(line) == expected


def test_two_messages_that_differ_in_a_word_are_two() -> None:
    assert template("worker 3 exited") != template("worker 3 started")
    assert template("loss 0.1") != template("loss inf")


@given(st.text(max_size=300))
def test_a_template_is_made_of_anything(text: str) -> None:
    assert isinstance(template(text), str)


WORDS = st.sampled_from(["step", "loss", "done", "0x1f", "a1b2c3d4e5", "x", "|"])
# No number of ten digits and more: in front of a line it may be a time, which the shape of the line does not tell (see `shape`).
LINE = st.lists(st.one_of(WORDS, st.integers(0, 10**9 - 1).map(str), st.floats(0, 9).map(lambda x: f"{x:.3f}")), max_size=5)


@pytest.mark.seconds
@given(st.lists(LINE.map(" ".join), min_size=1, max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_groups_are_what_each_line_for_itself_gives(lines: list[str], end: str) -> None:
    given = split_rows((end.join(lines) + end).encode())
    made = [template(last_frame(r)) for r in given]
    found: Counter[str] = Counter()
    for group in Templates().groups(given):
        found[group.template] += group.count
        assert made[group.first] == made[group.last] == group.template
    assert found == Counter(m for m in made if m)


@given(st.binary(max_size=400), st.integers(1, 50))
def test_whole_lines_are_the_same_bytes_however_they_come(data: bytes, size: int) -> None:
    made = list(whole_lines(data[i : i + size] for i in range(0, len(data), size)))
    assert b"".join(made) == data
    assert all(block.endswith(b"\n") for block in made[:-1])


def test_of_a_progress_bar_the_last_frame_counts() -> None:
    assert split_rows(b"10%\r20%\r30%\nnext\r\n") == [b"30%", b"next"]


def test_only_what_is_new_is_told_with_its_places() -> None:
    good = [text_source("good", "step 1 loss 0.5\nstep 2 loss 0.4\n")]
    bad = [
        text_source("a", "step 7 loss 0.5\nCUDA error 700\nstep 8 loss 0.4\nCUDA error 701\n"),
        text_source("b", "step 9 loss 0.1\nCUDA error 702\nbye\n"),
    ]
    found = difference(good, bad)
    assert [(m.source, m.line, m.last_source, m.last_line, m.count, m.text) for m in found.messages] == [
        ("a", 2, "b", 2, 3, "CUDA error 700"),
        ("b", 3, "b", 3, 1, "bye"),
    ]
    assert (found.lines, found.known, found.left_out, found.warnings) == (7, 1, 0, ())
    assert [m.alarming for m in found.messages] == [True, False]


def test_a_run_says_nothing_that_it_does_not_say_itself() -> None:
    folder = ROOT / "sample_logs" / "torchrun_keyerror" / "train.log"
    text = folder.read_text()
    assert difference([text_source("a", text)], [text_source("b", text)]).messages == ()


def test_the_failure_of_a_captured_run_is_in_what_the_healthy_one_never_said() -> None:
    def logs(name: str) -> list[Source]:
        return [text_source(p.name, p.read_bytes()) for p in sorted((ROOT / "sample_logs" / name).glob("*.log"))]

    found = difference(logs("healthy_jupyter"), logs("jupyter_oom"))
    said = " ".join(m.text for m in found.messages)
    assert "Memory cgroup out of memory" in said
    assert "restarting kernel" in said
    assert "Serving notebooks" not in said


def test_runs_of_different_programs_and_empty_ones_are_told() -> None:
    other = difference([text_source("a", "alpha\nbeta\n")], [text_source("b", "gamma\ndelta\n")])
    assert [w.kind for w in other.warnings] == ["unlike"]
    assert [w.kind for w in difference([text_source("a", "\n")], [text_source("b", "x\n")]).warnings] == ["empty"]


def test_memory_is_bounded_whatever_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("forensics.readers.templates")  # the package's own name is the function
    monkeypatch.setattr(module, "MOST_NEW", 5)
    monkeypatch.setattr(module, "MOST_SHAPES", 10)
    templates = Templates()
    words = [f"word {chr(97 + i % 26)}{chr(97 + i // 26 % 26)}" for i in range(600)]
    found = [g.template for w in words for g in templates.groups([w.encode()])]
    assert found == words
    assert len(templates.known) <= 20
    new = difference([text_source("g", "fine\n")], [text_source("b", "\n".join(words))])
    assert (len(new.messages), new.left_out) == (5, len(words) - 5)


def test_lines_that_stand_together_are_a_passage_of_which_the_telling_ones_are_shown() -> None:
    lines = ["Traceback (most recent call last):", *(f"  at {w}" for w in "abcdef"), "KeyError: label"]
    found = difference([text_source("g", "fine\n")], [text_source("b", "\n".join([*lines, *["fine"] * 9, "bye"]))])
    first, second = passages(found.messages)
    assert [m.text for m in second] == ["bye"]
    shown = shorten_passage(first)
    assert [x if isinstance(x, int) else x.text for x in shown] == [lines[0], 6, lines[-1]]


def test_the_comparison_says_how_often_and_where_and_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("forensics.readers.templates"), "MOST_NEW", 9)
    stack, fine = "".join(f"  at {w}\n" for w in "abcdef"), "fine\n" * 9
    bad = f"KeyError: a\n{stack}bye\n{fine}cannot read x\ncannot read x\n{fine}last words\nfarewell\n"
    found = difference([text_source("g", "fine\n")], [text_source("b", bad)])
    told = render_difference(found, "text", 1, Style()).splitlines()
    assert told[0] == "11 of the 12 different messages of the bad run (30 lines) are never in the good one."
    assert told[3:6] == ["       1 >  KeyError: a", "            ... 6 more lines", "       8    bye"]
    assert told[7:9] == [
        "and 1 more passage: --most shows more, --format json all",
        "2 further different messages were counted only",
    ]
    whole = render_difference(found, "text", 9, Style())
    assert "      18 >  cannot read x  (2 times, last on 19)" in whole
    assert "    ... 6 more lines" in render_difference(found, "markdown", 9, Style())


def test_a_bad_run_that_says_nothing_new_is_told_so() -> None:
    found = difference([text_source("g", "fine\nwell\n")], [text_source("b", "fine\n")])
    said = "Everything that the bad run says, 1 different message in 1 line, the good one says too."
    assert render_difference(found, "text", 9, Style()).startswith(said)


SECRET = "hf_" + "aK3xQ9vTz7" + "LmW2pRbY8n" + "C4sJdF6hUeGt0o"
HOSTILE = f"token {SECRET} \x1b]0;title\x07 \x00 ``` | <b> error\n"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_secrets_and_control_characters_never_get_out(form: str) -> None:
    found = difference([text_source("good", "fine\n")], [text_source("bad", HOSTILE)])
    said = render_difference(found, form, 10, Style())
    assert SECRET not in said
    assert "REDACTED" in said
    assert not set(said) & set("\x1b\x00\x07")


def archive(folder: Path, name: str, text: str) -> Path:
    (folder / "train.log").write_text(text)
    with tarfile.open(folder / name, "w:gz") as tar:
        tar.add(folder / "train.log", "train.log")
    (folder / "train.log").unlink()
    return folder / name


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "train.log").write_text("step 1\nstep 2\n")
    yield tmp_path / "good", archive(tmp_path, "bad.tar.gz", "step 1\n[rank3]: RuntimeError: it broke\n")


def run(*args: object) -> tuple[int, str]:
    from typer.testing import CliRunner

    from forensics.cli.app import build

    found = CliRunner().invoke(build(), ["compare", *map(str, args)])
    return found.exit_code if found.exception is None else 2, found.output + str(found.exception or "")


def test_folders_and_archives_are_compared(runs: tuple[Path, Path], tmp_path: Path) -> None:
    status, said = run(*runs)
    assert status == 0
    assert "1 of the 2 different messages" in said
    assert "bad.tar.gz!train.log" in said
    assert ">  [rank3]: RuntimeError: it broke" in said
    status, said = run(*runs, "-f", "json", "-o", tmp_path / "d.json")
    document = json.loads((tmp_path / "d.json").read_text())
    assert (document["schema"], document["known"]) == ("forensics-compare/1", 1)
    assert [(m["line"], m["count"], m["text"]) for m in document["messages"]] == [(2, 1, "[rank3]: RuntimeError: it broke")]


@pytest.mark.parametrize("line", ["Namespace(lr={}, seed=1)", "args: lr={} seed=1"])
def test_what_both_runs_say_of_themselves_is_compared(line: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.log", tmp_path / "bad.log"
    steps = [f"step {n} loss {2 / (n + 1):.4f}" for n in range(60)]
    good.write_text("\n".join([line.format("1e-4"), *steps, "finished"]) + "\n")
    bad.write_text("\n".join([line.format("3e-4"), *steps[:20], "ValueError: no label"]) + "\n")
    said = run(good, bad, "-f", "json")[1]
    changes = {c["what"]: (c["then"], c["last"]) for c in json.loads(said)["changes"]}
    losses = changes.pop("loss")
    assert (losses[0][:11], losses[1][-3:]) == ("2, 1, 0.666", "0.1")
    assert changes == {"reached": ("step 59", "step 19"), "--lr": ("1e-4", "3e-4")}
    assert "| `--lr` | `1e-4` | `3e-4` |" in run(good, bad, "-f", "markdown")[1]
    assert re.search(r"--lr +1e-4 -> 3e-4\n", run(good, bad)[1])


def test_wrong_usage_is_told(runs: tuple[Path, Path], tmp_path: Path) -> None:
    assert run(*runs, "-f", "html") == (2, "unknown format 'html'; choose one of text, markdown, json")
    assert run(runs[0], tmp_path / "none")[0] == 2
