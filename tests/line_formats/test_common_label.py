"""A label in front of every line is taken away once, where all lines have the same one."""

from forensics.line_formats.common_label import common_label

TOLD = ["loading data", "Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "", "KeyError: 'lr'"]


def test_a_pod_and_its_container_in_front_of_each_line_are_a_label() -> None:
    found = common_label([f"trainer-0 main {line}" for line in TOLD])
    assert found is not None
    assert found.text == "trainer-0 main "
    assert [found.pattern.sub(b"", f"trainer-0 main {line}".rstrip().encode()).decode() for line in TOLD] == TOLD


def test_two_words_that_some_lines_have_and_dates_are_none() -> None:
    assert common_label([f"pre-trained model {line}" for line in TOLD] + ["loss 0.3"]) is None
    assert common_label([f"ptd-server 2021-03-18 21:44:1{i},314 [INFO] {line}" for i, line in enumerate(TOLD)]) is None
    assert common_label(["pre-trained model loaded"] * 3) is None
