import pytest

from forensics.signature_export.re2 import NotInRe2Error, rewrite


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        (r"lost(?<code>\d+)".replace("?<", "?P<"), r"lost(?:\d+)"),
        ("a{0,2000}b", "a*b"),
        ("(?:x{1,100}y){1,100}", "(?:x+y){1,100}"),
        ("(?<![A-Z])bus", "(?:^|[^A-Z])bus"),
        (r"error(?!\d)", r"error(?:$|[^\d])"),
        ("a++b", "a+b"),
        ("(?>ab)c", "(?:ab)c"),
        ("x`y", r"x\x60y"),
    ],
)
def test_what_re2_lacks_becomes_plain(pattern: str, written: str) -> None:
    assert rewrite(pattern).pattern == written


def test_a_refused_text_before_the_rest_of_a_line_is_written_out() -> None:
    assert rewrite("panic: (?!a|bc)[^\n]{2,9}$").pattern == "panic: (?:$|[^\\nab]|b(?:$|[^\\nc]))[^\\n]{2,9}$"


def test_another_refused_text_becomes_a_veto() -> None:
    made = rewrite("CPU (?!12x?y)[0-9]+ lost")
    assert (made.pattern, made.vetoes, made.dropped) == ("CPU [0-9]+ lost", ("CPU 12x?y",), True)


def test_what_has_no_form_says_so() -> None:
    with pytest.raises(NotInRe2Error):
        rewrite(r"(a|b)\1")
