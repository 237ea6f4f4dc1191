"""The cached document gives the same database, and makes only what is asked for."""

import hyperscan
import pytest
from msgspec.structs import replace

from forensics import database, pipeline
from forensics.database import Database, builtin_folder, load, read_folders
from forensics.database.compiled import assemble
from forensics.database.entries import NO_PLACE, Cause, Missing, Remedy
from forensics.database.stored import database_document, database_of_parts, database_parts


@pytest.fixture(scope="module")
def built() -> Database:
    return assemble(read_folders([builtin_folder()])[0], (), "x")


def again_from(built: Database, document: bytes) -> Database:
    """The Database of its parts, with this document among them."""
    first, _, *matchers = database_parts(built)
    return database_of_parts([document, *matchers], (), "x", lambda: first)


def told(cause: Cause) -> tuple[list[Remedy], list[Missing]]:
    """The remedies and what is missing, without where they are written, which the cache does not keep."""
    return [replace(r, place=NO_PLACE) for r in cause.remedies], [replace(m, place=NO_PLACE) for m in cause.missing]


@pytest.mark.seconds
def test_every_cause_and_signature_is_the_same(built: Database) -> None:
    again = again_from(built, database_document(built))
    assert list(again.causes) == list(built.causes)
    assert again.traits == built.traits
    for name, cause in built.causes.items():
        other = again.causes[name]
        assert (other.title, other.means, other.explains, other.fallback) == (
            cause.title,
            cause.means,
            cause.explains,
            cause.fallback,
        )
        assert (other.summary, *told(other)) == (cause.summary, *told(cause))
        assert [(s.id, s.anchors, s.pattern, s.unless, s.weight) for s in other.signatures] == [
            (s.id, s.anchors, s.pattern, s.unless, s.weight) for s in cause.signatures
        ]
    assert [c.signature.id for c in again.confirmers] == [c.signature.id for c in built.confirmers]
    assert [list(i) for i in again.signature_ids] == [list(i) for i in built.signature_ids]


def test_a_trait_names_the_causes_that_have_it(built: Database) -> None:
    had = {(name, trait) for name, cause in built.causes.items() for trait in cause.traits}
    assert {(name, trait) for trait, names in built.traits.items() for name in names} == had
    assert built.has_trait("code.exception", "exception")
    assert not built.has_trait(None, "exception") and not built.has_trait("host_memory.oom_cgroup", "no_such_trait")


@pytest.mark.seconds
def test_only_what_is_used_is_made(built: Database) -> None:
    again = again_from(built, database_document(built))
    assert "host_memory.oom_cgroup" in again.causes
    assert "nothing.known" not in again.causes
    made = again.confirmers._made  # type: ignore[attr-defined]
    assert made == {}
    assert again.confirmers[3] is again.confirmers[3]
    assert set(made) == {3}


@pytest.mark.parametrize(
    "damage", [lambda d: d[: len(d) // 2], lambda d: d.replace(b'"firsts"', b'"lasts"'), lambda d: d + b"\n{}"]
)
def test_a_document_that_is_not_whole_is_refused(built: Database, damage: "object") -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        again_from(built, damage(database_document(built)))  # type: ignore[operator]


@pytest.mark.seconds
def test_what_is_in_the_cache_is_not_compiled_again(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, triggers = builtin_folder(), knowledge.triggers
    load(folder, triggers)
    pipeline.database()
    monkeypatch.setattr(database, "assemble", None)
    assert load(folder, triggers).hash == pipeline.database().hash == knowledge.hash
    assert not load(folder, triggers).confirmers._made  # type: ignore[attr-defined]


def test_a_cause_is_made_without_its_signatures(built: Database) -> None:
    again = again_from(built, database_document(built))
    for name, cause in built.causes.items():
        assert (again.causes[name].title, again.causes[name].fallback) == (cause.title, cause.fallback)
    assert again.confirmers._made == {}  # type: ignore[attr-defined]
    assert [s.id for s in again.causes["host_memory.oom_cgroup"].signatures] == [
        s.id for s in built.causes["host_memory.oom_cgroup"].signatures
    ]


@pytest.mark.parametrize("kept", [lambda first: first, lambda _: b"", lambda first: first[: len(first) // 2]])
def test_the_matcher_of_floods_is_read_or_made_again(kept: "object") -> None:
    small = assemble(read_folders([builtin_folder()])[0][:3], (), "x")
    first, document, *matchers = database_parts(small)
    again = database_of_parts([document, *matchers], (), "x", lambda: kept(first))  # type: ignore[operator]
    found: list[int] = []
    text = (small.anchors[0] * 3).encode()
    again.once().scan(text, match_event_handler=lambda i, *_: found.append(i), scratch=hyperscan.Scratch(again.once()))
    assert found.count(0) == 1
    assert again.once() is again.once()
