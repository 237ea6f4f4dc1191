"""A faulty cause file is told with path and line, all faults in one run, and never half-loads."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.core import limits
from forensics.core.errors import DatabaseError
from forensics.data_files import cache
from forensics.database import load
from forensics.database.causefiles import read_causes
from forensics.database.validate import check

GOOD = """\
cause: family.thing
title: A thing
means: It happened.
signatures:
  - id: one
    weight: proof
    pattern: 'the thing broke (?P<task>\\w+)'
    source: a test
    examples:
      match:
        - {text: 'so the thing broke badly', fields: {task: badly}}
      no_match:
        - {text: 'the thing works', why: nothing broke}
remedies:
  - {do: Mend it, who: user, why: It is broken.}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "family" / "thing.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_a_good_file_has_no_faults(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    causes, faults = read_causes(tmp_path)
    assert faults == []
    assert check(causes, {"family.thing": "x"}) == []


def test_an_entry_may_have_messages_and_a_pattern_beside_them(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("    pattern:", "    message: 'the thing is gone'\n    pattern:"))
    (cause,), faults = read_causes(tmp_path)
    (signature,) = cause.signatures
    assert faults == []
    assert signature.messages == ("the thing is gone",)
    assert signature.written_pattern == r"the thing broke (?P<task>\w+)"
    assert {a.strip() for a in signature.anchors} == {"the thing broke", "the thing is gone"}
    assert check([cause]) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("weight: proof", "weight: maybe", "weight 'maybe'"),
        ("title: A thing\n", "", "missing key title"),
        ("title:", "titel: x\ntitle:", "unknown key titel"),
        ("cause: family.thing", "cause: family.other", "the file's path says 'family.thing'"),
        ("who: user", "who: nobody", "neither user nor admin"),
        ("why: It is broken.}", "why: It is broken., confirmed: 3}", "has no source beside it"),
        ("why: It is broken.}", "why: It is broken., source: a book, confirmed: many}", "is no number of people"),
        ("pattern: 'the", "pattern: '(the", "cannot be read"),
        ("pattern: 'the thing broke (?P<task>\\w+)'", "pattern: '(?P<task>\\w+)'", "no text of 4 bytes or more"),
        ("pattern: 'the thing broke (?P<task>\\w+)'", "message: 'the {thing broke'", "a single {"),
        ("    pattern: 'the", "    message: the thing broke\n    pattern: '(?i)the", "a pattern needs (?i:...)"),
        ("    pattern:", "    anchor: the thing\n    pattern:", "delete the line `anchor`"),
        ("means: It happened.", "means: 3", "means must be a text"),
        ("means:", "traits: [nice]\nmeans:", "trait 'nice' is not one of"),
        ("means:", "summary: [3]\nmeans:", "summary holds sentences or lists of alternative sentences"),
        ("    weight: proof", "    weight: proof\n    ends: world", "ends 'world' is not one of"),
        ("    weight: proof", "    weight: proof\n    scope: [moon]", "scope 'moon' is not one of"),
        ("    weight: proof", "    weight: proof\n    any_case: true", "any_case belongs to a message; a pattern says (?i)"),
        (
            "    pattern: 'the thing broke (?P<task>\\w+)'",
            "    message: the thing broke {task}\n    any_case: 1",
            "any_case must be true",
        ),
        ("fields: {task: badly}", "fields: badly", "fields must be names with their texts, found 'badly'"),
        ("title: A thing", "title: A thing\ntitle: Again", "written twice"),
        ("cause: family.thing", "cause: [", "did not find expected"),
        ("cause: family.thing", "cause: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
    ],
)
def test_a_fault_of_form_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = write(tmp_path, GOOD.replace(old, new))
    causes, faults = read_causes(tmp_path)
    assert causes == []
    assert str(faults[0]).startswith(f"{path}:")
    assert told in str(faults[0])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("pattern: 'the thing broke", "pattern: '(a+)+ broke", "nests unbounded repeats"),
        ("task: badly", "task: well", "expected {'task': 'well'}"),
        ("text: 'the thing works'", "text: 'the thing broke down'", "matches its negative example"),
        ("means: It happened.", "means: It happened.\nexplains: [family.nothing]", "explains family.nothing"),
        ("    examples:", "    unless: ['thing (']\n    examples:", "does not compile"),
        ("remedies:", GOOD[GOOD.index("  - id") : GOOD.index("remedies:")] + "remedies:", "one"),
    ],
)
def test_a_fault_of_meaning_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    write(tmp_path, GOOD.replace(old, new))
    causes, faults = read_causes(tmp_path)
    assert faults == []
    assert told in " ".join(str(f) for f in check(causes, {"family.thing": "x"}))


def test_all_faults_of_a_file_are_told_in_one_run_each_with_its_line(tmp_path: Path) -> None:
    text = GOOD.replace("weight: proof", "weight: maybe").replace("who: user", "who: nobody")
    path = write(tmp_path, text + "missing:\n  - 3\n  - {what: x}\n")
    _, faults = read_causes(tmp_path)
    lines = text.splitlines()
    assert {(f.path, f.line) for f in faults} == {
        (str(path), next(i for i, line in enumerate(lines, 1) if "weight: maybe" in line)),
        (str(path), next(i for i, line in enumerate(lines, 1) if "nobody" in line)),
        (str(path), len(lines) + 1),
        (str(path), len(lines) + 3),
    }


@pytest.mark.parametrize("shape", ["[" * 100_000, "{a: " * 20_000, "- " * 50_000])
def test_deep_nesting_is_a_fault_and_not_the_end_of_the_process(tmp_path: Path, shape: str) -> None:
    """Who notices it first, the parser or the limit of this project, is the parser's business, and so are its words."""
    path = write(tmp_path, shape)
    causes, faults = read_causes(tmp_path)
    assert causes == []
    assert [(f.path, f.line) for f in faults] == [(str(path), 1)]


@pytest.mark.parametrize("shape", ["[" * 30 + "]" * 30, "{a: " * 30 + "}" * 30])
def test_nesting_that_the_parser_takes_is_still_limited(tmp_path: Path, shape: str) -> None:
    write(tmp_path, shape)
    _, faults = read_causes(tmp_path)
    assert "nested too deeply" in str(faults[0])


@pytest.mark.parametrize(
    "text",
    ["a: &a [x, x]\nb: [*a, *a]\n", "a: &a {k: 1}\nb: {<<: *a}\n", "&a [*a]\n"],
)
def test_yaml_aliases_are_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    _, faults = read_causes(tmp_path)
    assert "YAML aliases are not read" in str(faults[0])


@pytest.mark.parametrize(
    "text", ["", "- a\n", "cause: 2024-99-99\n", "cause: " + "9" * 9999, "? [a]\n: b\n", "1: 2\n", "a: 1\n---\nb: 2\n"]
)
def test_other_yaml_is_a_fault(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    causes, faults = read_causes(tmp_path)
    assert causes == []
    assert {f.path for f in faults} == {str(path)}


@given(st.binary(max_size=300))
def test_any_bytes_are_a_fault_or_a_cause(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "bytes"
    folder.mkdir(exist_ok=True)
    write(folder, "").write_bytes(raw)
    causes, faults = read_causes(folder)
    assert causes == []
    assert faults


@given(st.sampled_from(GOOD.splitlines()), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_a_good_file_with_any_line_replaced_never_raises(tmp_path_factory: pytest.TempPathFactory, line: str, other: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "lines"
    folder.mkdir(exist_ok=True)
    write(folder, "").write_text(GOOD.replace(line, other), encoding="utf-8")
    causes, faults = read_causes(folder)
    assert len(causes) + bool(faults) == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("pattern: 'the", "pattern: '" + "x" * 5000 + "the", "pattern has 50"),
        ("A thing", "A thing\nx: " + "y" * (4 << 20), "larger than 4194304 bytes"),
    ],
)
def test_what_is_too_large_is_a_fault(tmp_path: Path, old: str, new: str, told: str) -> None:
    write(tmp_path, GOOD.replace(old, new))
    _, faults = read_causes(tmp_path)
    assert told in str(faults[0])


def test_more_files_than_the_limit_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD)
    (tmp_path / "family" / "other.yaml").write_text(GOOD.replace("family.thing", "family.other"))
    monkeypatch.setattr(limits, "current", replace(limits.current, cause_files=1))
    assert [f.what for f in read_causes(tmp_path)[1]] == ["2 cause files; 1 is the limit"]


def test_a_file_in_the_wrong_place_is_told(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    for stray in ("thing.yaml", "family/other.yml", "family/deep/thing.yaml"):
        (tmp_path / stray).parent.mkdir(exist_ok=True)
        (tmp_path / stray).write_text(GOOD)
    _, faults = read_causes(tmp_path)
    assert [Path(f.path).relative_to(tmp_path).as_posix() for f in faults] == [
        "family/deep/thing.yaml",
        "family/other.yml",
        "thing.yaml",
    ]


def test_a_fault_of_meaning_is_told_at_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace("task: badly", "task: well"))
    causes, _ = read_causes(tmp_path)
    (fault,) = check(causes)
    assert fault.path == str(path)
    assert "task: well" in GOOD.replace("task: badly", "task: well").splitlines()[fault.line - 1]


def test_signatures_of_a_proven_folder_are_taken_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("task: badly", "task: well").replace("means:", "explains: [family.gone]\nmeans:"))
    causes, _ = read_causes(tmp_path)
    assert [f.what for f in check(causes, proven=tmp_path)] == ["explains family.gone, which is no other cause"]
    assert len(check(causes, proven=tmp_path / "elsewhere")) == 2


def test_a_faulty_database_is_one_clear_error(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("weight: proof", "weight: maybe"))
    with pytest.raises(DatabaseError, match=r"thing\.yaml:\d+: weight 'maybe'"):
        load(tmp_path)


def test_the_cache_gives_the_same_database(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    built, cached = load(tmp_path), load(tmp_path)
    assert cached.hash == built.hash
    assert cached.anchors == built.anchors
    assert [r.do for r in cached.causes["family.thing"].remedies] == [r.do for r in built.causes["family.thing"].remedies]


def test_a_damaged_or_foreign_cache_is_rebuilt_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "cache"))
    write(tmp_path, GOOD)
    load(tmp_path)
    (kept,) = (tmp_path / "cache").glob("*.db")
    good = kept.read_bytes()
    for bad in (b"", good[:50], good[:-1], good[:-9] + b"123456789", b"something else"):
        kept.write_bytes(bad)
        assert load(tmp_path).causes.keys() == {"family.thing"}
        assert kept.read_bytes() == good
    cache.write(kept.stem, [b"[]", b"not a pattern database"])  # well formed, but no Hyperscan of ours
    assert load(tmp_path).causes.keys() == {"family.thing"}


def test_a_cached_document_of_another_form_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "cache"))
    write(tmp_path, GOOD)
    load(tmp_path)
    (kept,) = (tmp_path / "cache").glob("*.db")
    _, *patterns = cache.read(kept.stem) or [b""]
    for document in (b"", b"[]", b"{}", b'{"causes": [], "firsts": [0, 4]}', b"no json"):
        cache.write(kept.stem, [document, *patterns])
        assert load(tmp_path).causes.keys() == {"family.thing"}


def test_a_cached_database_that_is_in_use_is_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path))
    for i in range(cache.MAX_CACHED_DATABASES):
        cache.write(f"k{i}", [b"", b""])
        os.utime(tmp_path / f"k{i}.db", (i, i))
    assert cache.read("k0") == [b"", b""]
    cache.write("last", [b""])
    assert {p.stem for p in tmp_path.iterdir()} == {"k0", "last", *(f"k{i}" for i in range(2, cache.MAX_CACHED_DATABASES))}


def test_old_cached_databases_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path))
    for i in range(cache.MAX_CACHED_DATABASES + 5):
        cache.write(f"k{i}", [b"", b""])
        os.utime(tmp_path / f"k{i}.db", (i, i))
    cache.write("last", [b""])
    kept = {p.stem for p in tmp_path.iterdir()}
    assert len(kept) == cache.MAX_CACHED_DATABASES
    assert "last" in kept and "k0" not in kept


def test_a_cache_that_cannot_be_written_costs_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "file" / "cache"))
    write(tmp_path, GOOD)
    assert load(tmp_path).causes


def test_a_changed_signature_is_seen(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    before = load(tmp_path).hash
    write(tmp_path, GOOD.replace("It happened.", "It happened again."))
    assert load(tmp_path).hash != before
