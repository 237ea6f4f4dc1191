"""Tokens are counted by a rule that is stated, or by a vocabulary that is on this machine."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from forensics.report.brief import voices
from forensics.report.brief.voices import count_tokens, counted_by_rule


@pytest.mark.parametrize(
    ("text", "least"),
    [("", 0), ("a", 1), ("RuntimeError", 2), ("123456789", 3), ("a b c", 3), ("====", 1), ("\n\n", 1), ("模型", 3), ("{[(", 3)],
)
def test_the_rule_counts_pieces(text: str, least: int) -> None:
    assert least <= counted_by_rule(text) <= least + 2


def test_more_text_has_more_tokens() -> None:
    line = "train.log:80: RuntimeError: CUDA out of memory. Tried to allocate 2.41 GiB\n"
    assert counted_by_rule(line * 10) >= 9 * counted_by_rule(line)


def test_the_vocabulary_counts_if_it_is_there_and_nothing_is_loaded_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def get_encoding(name: str) -> SimpleNamespace:
        asked.append(name)
        return SimpleNamespace(encode=lambda text, disallowed_special: [0] * 77)

    monkeypatch.setitem(sys.modules, "tiktoken", SimpleNamespace(get_encoding=get_encoding, __spec__=SimpleNamespace()))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    voices._encoder.cache_clear()
    try:
        assert count_tokens("a b") != 77
        assert asked == []
        (tmp_path / voices.KEPT_AS).touch()
        voices._encoder.cache_clear()
        assert (count_tokens("a b"), asked) == (77, [voices.VOCABULARY])
    finally:
        voices._encoder.cache_clear()
