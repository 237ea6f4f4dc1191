"""Numbers of lines that differ in their numbers alone: the short way and the long way agree."""

from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.series.numbers import CALLS, _plans, _tokens, tokens

NUMBER = st.sampled_from(
    ["7", "12", "123", "0.5", "1.", ".5", "-3", "1e-5", "2.1E+00", "1,234", "1,234.5", "007", "nan", "1.2.3", "-inf", "99999"]
)
WORD = st.sampled_from(
    ["loss", "loss: ", "rss ", "=", ": ", ", ", ",", " | ", "GPU-", "s", " GB", "GB", "it/s", "(", ")", "[", "]", "/", "-", " ", "\t", "memory_allocated(",
     "'", "{'lr': ", "é", "tensor(", "ms/step - ", "samples/sec: ", "%|"]
)  # fmt: skip
SHAPE = st.lists(WORD | st.none(), min_size=1, max_size=14)


@settings(max_examples=400)
@given(SHAPE, st.lists(st.lists(NUMBER, min_size=14, max_size=14), min_size=2, max_size=4))
def test_a_shape_that_was_seen_reads_like_a_new_one(shape: list[str | None], fillings: list[list[str]]) -> None:
    _plans.clear()
    for filling in fillings:
        text = "".join(filling[i] if word is None else word for i, word in enumerate(shape))
        plain = CALLS.sub(" ", text) if "(" in text else text
        assert repr(tokens(text)) == repr(list(_tokens(plain)))


def test_lines_of_one_shape_share_a_plan() -> None:
    _plans.clear()
    lines = [f"2026-11-01 10:53:{i:02d},000 INFO step {i} loss 2.{i} rss {i}.5 MB {i}.25it/s" for i in range(50)]
    assert [[t.value for t in tokens(line)] for line in lines] == [[i, float(f"2.{i}"), i + 0.5, i + 0.25] for i in range(50)]
    assert len(_plans) == 1


def test_a_nul_in_a_line_is_not_taken_for_a_number() -> None:
    """Found by damaged logs: two lines that differ in a number and a NUL."""
    assert [t.value for t in tokens("loss 1 acc 2 x")] == [1.0, 2.0]
    assert [t.value for t in tokens("loss \0 acc 2 x")] == [2.0]
    assert [t.value for t in tokens("loss 1 acc \0 x")] == [1.0]
