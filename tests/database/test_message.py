"""Messages with holes become patterns that find them whole, with their fields, on any line in no time. All messages are made."""

import time

import pytest
import regex

from forensics.database.message import SHAPES, TYPES, UP_TO, BadMessageError, message_pattern, wordings


def fields(message: str, line: str, any_case: bool = False) -> dict[str, str] | None:
    found = regex.search(message_pattern([message], any_case), line)
    return found and {k: v for k, v in found.groupdict().items() if v is not None}


@pytest.mark.parametrize(
    ("message", "line", "given"),
    [
        ("No such option: {argument}", "Error: No such option: --lr 3", {"argument": "--lr"}),
        ("killed {pid} ({task:text}) at {rss_kb}kB", "x killed 12 (a b) at 9kB", {"pid": "12", "task": "a b", "rss_kb": "9"}),
        ("cannot open {path}: gone", "cannot open /a/b c: gone", None),
        ("cannot open {path}: gone", "cannot open /a/b.c: gone", {"path": "/a/b.c"}),
        ("GPU {pci} fell", "GPU 0000:3B:00.0 fell", {"pci": "0000:3B:00.0"}),
        ("of {size} asked, {limit_size} left", "of 20.5 GiB asked, 7 MiB left", {"limit_size": "7 MiB"}),
        ("{unit:quoted} is lost", "'a.service' is lost", {"unit": "a.service"}),
        ("{rocm=HIP} is lost", "HIP is lost", {"rocm": "HIP"}),
        ("{CUDA|HIP} is lost", "HIP is lost", {}),
        ("is {very |}lost", "is lost", {}),
        ("a {{brace}} here", "a {brace} here", {}),
        ("failed with {count} errors", "failed with 0 errors", None),
    ],
)
def test_a_message_gives_its_fields(message: str, line: str, given: dict[str, str] | None) -> None:
    assert fields(message, line) == given


def test_a_message_stands_whole() -> None:
    assert fields("bus error 99", "Abus error 99") is None
    assert fields("bus error 99", "bus error 999") is None
    assert fields("bus error", "bus errors") is None
    assert fields("bus error{rest}", "bus errors") == {}
    assert fields("bus error", r"'\nbus error\n'") == {}, "behind the line end of a quoted text"
    assert fields("bus error", "5/5bus error") == {}, "behind a progress bar"


def test_case_matters_unless_told() -> None:
    assert fields("Bus Error", "bus error") is None
    assert fields("Bus Error", "bus error", any_case=True) == {}


@pytest.mark.parametrize("message", ["{x", "a } b", "{pid:sometype} a", "{A b} c", "{rest}", "   "])
def test_a_wrong_message_is_told(message: str) -> None:
    with pytest.raises(BadMessageError):
        message_pattern([message])


def test_no_hole_makes_a_line_slow() -> None:
    line = ("lost 1 " * 3000)[:16_000]
    start = time.process_time()
    for kind in sorted(TYPES):
        regex.search(message_pattern([f"lost {{{kind}}} of {{{kind}}} gone"]), line, timeout=5)
    assert time.process_time() - start < 2


def test_every_type_is_explained() -> None:
    assert set(UP_TO).isdisjoint(SHAPES)
    assert all(regex.compile(p) for p in (*UP_TO.values(), *SHAPES.values()))


def test_messages_that_begin_alike_find_what_each_of_them_finds() -> None:
    """They are asked for the beginning of a word together, in their order."""
    messages = ("lease {id:int} lost", "lease lost", "lost its lease", "[{int}] lease gone", "quota of {user}")
    together = regex.compile(message_pattern(messages))
    apart = regex.compile("|".join(wordings(messages)))
    for line in (
        "lease 7 lost",
        "xlease lost",
        "a\\nlease lost",
        "it lost its lease",
        "[7] lease gone",
        "quota of ana",
        "lease losts",
    ):
        one, other = together.search(line), apart.search(line)
        assert (one and (one.span(), one.groupdict())) == (other and (other.span(), other.groupdict())), line


def test_a_pattern_beside_messages_finds_what_no_message_can_say() -> None:
    both = regex.compile(message_pattern(("The lease ended",), any_case=True, alternative=r"node (?P<node>[a-f]+)(?!\d) lost"))
    assert both.search("the LEASE ended")
    assert both.search("node cafe lost")["node"] == "cafe"
    assert not both.search("NODE cafe lost")
