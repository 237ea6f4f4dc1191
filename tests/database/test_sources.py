"""Wordings are looked up in sources as programs break them, and what no source holds is told. All sources here are made."""

from pathlib import Path

import pytest

from forensics.database.entries import Signature
from scripts.lint.builtin import read_verified
from scripts.lint.unreachable import never_fires
from scripts.wordings import best_matches, look_up, matches_csv, not_named, texts_of


def made(name: str, *messages: str, source: str = "", pattern: str = "", unless: tuple[str, ...] = ()) -> Signature:
    return Signature("a.b", name, "proof", (), pattern, messages=messages, source=source, unless=unless)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for program, text in (
        ("zorb", 'log("the flurble quota "\n      "of %s was exceeded", user);'),
        ("quux", "# The flurble quota of all is exceeded"),
    ):
        (tmp_path / program / "src").mkdir(parents=True)
        (tmp_path / program / "src" / "main.c").write_text(text)
        (tmp_path / program / "VERSION").write_text("1.2\n")
    return tmp_path


def test_a_wording_is_found_though_the_source_breaks_it(sources: Path) -> None:
    one = made("one", "The flurble quota of {user} was exceeded", source="zorb src/main.c")
    gone = made("gone", "the {int} wobbles were never said")
    found, lacking = look_up([one, gone], sources)
    assert {(f.program, f.version, f.file) for f in found} == {("zorb", "1.2", "src/main.c"), ("quux", "1.2", "src/main.c")}
    assert [f.program for f in best_matches(found, [one])] == ["zorb"]
    assert [(s.name, text) for s, text in lacking] == [("gone", "wobbles were never said")]


def test_a_short_text_counts_in_the_file_that_the_source_names(sources: Path) -> None:
    (sources / "zorb" / "src" / "disk.c").write_text('log("wob_err: wr %d", n);')
    (sources / "zorb" / "disk.c").write_text('log("other");')
    of_the_file = made("one", "wob_err: wr {int}", source="zorb 1.2 src/disk.c told()")
    of_nothing = made("two", "wob_err: wr {int}", source="zorb")
    assert texts_of(of_the_file) == []
    assert [(f.signature.partition("/")[2], f.file) for f in look_up([of_the_file, of_nothing], sources)[0]] == [
        ("one", "src/disk.c")
    ]


def test_of_a_pattern_its_plain_texts_are_looked_up() -> None:
    assert texts_of(made("one", pattern=r"(?:lost its long lease|\d+ short) at (?P<node>\S+) since midnight")) == [
        "lost its long lease",
        "since midnight",
    ]


def test_what_was_found_is_read_again(tmp_path: Path, sources: Path) -> None:
    one = made("one", "flurble quota of {user}")
    (tmp_path / "verified.csv").write_text(matches_csv(best_matches(look_up([one], sources)[0], [one])))
    assert set(read_verified(tmp_path)) == {"a.b/one"}


def test_wordings_that_never_speak_are_told() -> None:
    assert [w.split(":")[0] for w in never_fires(made("one", "lost its lease", "node lost its lease"))] == [
        "wording 'node lost its lease' is never needed"
    ]
    (told,) = never_fires(made("one", "lost its {int} leases", unless=("lease",)))
    assert "can never match" in told
    assert list(never_fires(made("one", "lost its {int} leases", "lease gone", unless=("test",)))) == []


def test_a_source_names_each_program_that_alone_says_a_wording(sources: Path) -> None:
    (sources / "quux" / "src" / "main.c").write_text('log("the wobble of the disk was too large today");')
    wordings = ("the flurble quota of {user} was exceeded", "the wobble of the disk was too large today")
    less, enough = made("less", *wordings, source="zorb"), made("enough", *wordings, source="zorb; quux src/main.c")
    found, _ = look_up([less, enough], sources)
    assert [(s.name, f.program, f.file) for s, f in not_named(found, [less, enough])] == [("less", "quux", "src/main.c")]


def test_a_text_that_its_program_puts_together_is_found_in_pieces(sources: Path) -> None:
    (sources / "zorb" / "src" / "main.c").write_text('log("the wobbling goes on: %s", why); why = "disk";')
    message = "the wobbling goes on: disk"
    found, _ = look_up([made("one", message, source="zorb"), made("other", message, source="quux")], sources)
    assert [(f.signature, f.text) for f in found] == [("a.b/one", "the wobbling goes on")]
