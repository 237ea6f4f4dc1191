"""JSON documents are read block by block, in bounded memory: where a block ends makes no difference."""

import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.core import limits
from forensics.core.limits import Limits, with_values
from forensics.sources.formats import documents
from forensics.sources.formats.documents import Strings, objects, values, values_and_strings


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    return lambda **given: monkeypatch.setattr(limits, "current", with_values(Limits(), given))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=5) | st.lists(st.text(), min_size=4, max_size=9) | st.dictionaries(st.text(), inner, max_size=5)
    ),
    max_leaves=20,
)


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[i : i + size] for i in range(0, len(data), size))


def silent(kind: str, message: str, line: int | None) -> None:
    raise AssertionError(f"{kind}: {message} ({line})")


@pytest.mark.seconds
@given(JSON, st.sampled_from([None, 1]), st.booleans(), st.integers(1, 40))
def test_a_document_read_in_blocks_is_the_same(document: object, indent: int | None, ascii_only: bool, size: int) -> None:
    data = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    assert list(values(cut(data, size), silent)) == list(values(iter([data]), silent))


def of_strings(text: str) -> list[tuple[list[str], int]]:
    return [(v.texts, v.step) for _, v, _ in values_and_strings(iter([text.encode()]), silent) if isinstance(v, Strings)]


def test_strings_of_a_list_come_together() -> None:
    assert of_strings('{"text": ["a", "b", "c", "d", "e"]}') == [(["a", "b", "c", "d"], 0)]
    assert of_strings('["a",\n "b",\n "c",\n "d",\n "e"]') == [(["a", "b", "c", "d"], 1)]
    assert of_strings('[{"n": 1}, "a", "b", "c", "d", "e"]') == []  # what is behind an object may be the rest of another one
    assert of_strings('["a",\n\n "b", "c", "d",\n "e"]') == []  # not equally many lines apart


@pytest.mark.seconds
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=5), st.booleans(), st.integers(1, 40))
def test_objects_read_in_blocks_are_the_same(found: list[dict[str, object]], listed: bool, size: int) -> None:
    text = json.dumps(found, indent=1) if listed else "\n".join(map(json.dumps, found))
    assert [o for _, o, _ in objects(cut(text.encode(), size), silent)] == found
    named = json.dumps({"other": 1, "dmesg": found, "more": 2}).encode()
    assert [o for _, o, _ in objects(cut(named, size), silent, "dmesg")] == found


@given(st.text(min_size=1), st.booleans(), st.integers(12, 20))
def test_a_long_string_comes_in_parts(text: str, ascii_only: bool, part: int) -> None:
    data = json.dumps([text * 9, 7], ensure_ascii=ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "MAX_STRING_PART_BYTES", part)
        found = [v for _, v, _ in values(cut(data, 5), silent)]
    assert found[-1] == 7
    joined = "".join(found[:-1]).encode("utf-16", "surrogatepass").decode("utf-16")  # a pair of escapes may be cut in two
    assert joined == text * 9


def test_a_document_of_nothing_but_brackets_ends(bound: Callable[..., None]) -> None:
    bound(values=1000)
    noted: list[str] = []
    assert list(values(iter([b"[" * 5000]), lambda kind, what, line: noted.append(what))) == []
    assert noted == ["more than 1,000 values and marks; the rest was not read"]
    assert list(objects(iter([b"[" + b"1," * 5000]), lambda kind, what, line: noted.append(what))) == []
    assert noted[1] == "more than 1,000 values; the rest was not read"
