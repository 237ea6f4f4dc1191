"""What tools and people do to text on its way: escapes, quotes, boxes and wraps are undone where the first text shows them."""

import textwrap

from tests.sources.helpers import read_bytes

SYSLOG = "Aug 22 03:00:07 node-7 kernel: "


def test_rsyslog_escapes_become_lines_of_the_same_place() -> None:
    text = f"{SYSLOG}one\n{SYSLOG}Mem-Info:#012 active_anon:1#012#011free:2\n{SYSLOG}two\n{SYSLOG}three #033[31mred\n"
    assert read_bytes(text.encode()).numbered == [
        (1, SYSLOG + "one"),
        (2, SYSLOG + "Mem-Info:"),
        (2, " active_anon:1"),
        (2, "\tfree:2"),
        (3, SYSLOG + "two"),
        (4, SYSLOG + "three \x1b[31mred"),
    ]


def test_a_number_sign_in_other_text_stays() -> None:
    text = "issue #012 was closed\nthen #012 again\n"
    assert read_bytes(text.encode()).lines == text.splitlines()


def test_quoting_goes_once_or_several_times() -> None:
    text = "> Traceback (most recent call last):\n> >   File x\n>\n> KeyError: 1\n"
    assert read_bytes(text.encode()).lines == ["Traceback (most recent call last):", "  File x", "", "KeyError: 1"]
    for other in (">>> import torch\n>>> torch.cuda\n>>> x\n", "a\n> b\nc\nd\n"):
        assert read_bytes(other.encode()).lines == other.splitlines()


def test_boxes_around_tracebacks_go() -> None:
    text = (
        "╭───────── Traceback (most recent call last) ─────────╮\n"
        "│ /home/ada/train.py:12 in main                       │\n"
        "│                                                     │\n"
        "│ ❱ 12 │   step()                                     │\n"
        "╰─────────────────────────────────────────────────────╯\n"
        "KeyError: 'x'\n"
    )
    found = read_bytes(text.encode())
    assert found.lines[1:4] == ["/home/ada/train.py:12 in main", "", "❱ 12 │   step()"]
    assert found.numbers == [1, 2, 3, 4, 5, 6]


MESSAGE = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total capacity; 14.32 GiB already "
    "allocated; 19.44 MiB free; 14.43 GiB reserved in total by PyTorch)"
)


def test_lines_cut_at_a_terminals_width_are_joined() -> None:
    lines = ["step 1", MESSAGE, "step 2", MESSAGE.replace("GPU 0", "GPU 1"), "end"]
    wrapped = [line[i : i + 80] for line in lines for i in range(0, len(line), 80)]
    found = read_bytes("\n".join(wrapped).encode())
    assert found.lines == lines
    assert found.numbers == [1, 2, 5, 6, 9]
    assert [w.kind for w in found.warnings] == ["unwrapped"]


def test_records_of_one_width_are_not_joined() -> None:
    lines = [f"epoch {i:03d} finished with a loss of {2 - i / 100:.4f} and a learning rate of 0.0001" for i in range(60)]
    found = read_bytes("\n".join(lines).encode())
    assert 70 <= len(lines[0]) <= 80
    assert (found.lines, found.warnings) == (lines, [])


def test_lines_wrapped_at_words_are_joined() -> None:
    lines = [MESSAGE, "ValueError: " + MESSAGE, MESSAGE.replace("RuntimeError", "MemoryError")]
    wrapped = [part for line in lines for part in textwrap.wrap(line, 72)]
    assert read_bytes("\n".join(wrapped).encode()).lines == lines


def test_tables_and_records_of_equal_length_are_not_joined() -> None:
    table = [
        "Mem:       62880028     5909424    55600892       95508     1369712    56381080",
        "Swap:             0           0",
    ] * 6
    records = [f"[{i:12.6f}] {'x' * 61}" for i in range(12)]
    prose = ["a short line", "and another one that is longer", "x" * 75, "", "the end"]
    for lines in (table, records, prose):
        assert read_bytes("\n".join(lines).encode()).lines == lines


def test_lines_of_one_length_by_chance_are_not_joined() -> None:
    """Evidence of lines that were joined stands nowhere in the file."""
    head = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
    progress = [f"seen {i}, wanted {40 - i}, and so on, free and usable memory: 62%".ljust(len(head), "%") for i in range(10, 14)]
    lines = [head, "Epoch 1", *(part for p in progress for part in (p, "next one")), head, "Epoch 2"]
    assert {len(line) for line in lines if len(line) > 20} == {len(head)}
    found = read_bytes("\n".join(lines).encode())
    assert (found.lines, found.warnings) == (lines, [])


RECORD = ["+ python train.py", "+ ~~~~~~~~~~~~~~~", "    + CategoryInfo", "   : NotSpecified:", "   (Traceback)", " "]


def powershell(errors: list[str], width: int, place: str = "At line:1 char:1") -> str:
    """`errors` of a program as Windows PowerShell writes them: wrapped, with an error record behind the first line."""
    rows: list[str] = []
    for number, line in enumerate(errors):
        while len(line) > width:
            at = line.rfind(" ", 0, width) + 1
            if len(line[at:].split(" ", 1)[0]) > width or not line[:at].strip():
                at = width
            rows.append(line[:at])
            line = line[at:]
        rows += [line, place, *RECORD] if number == 0 else [line]
    return "\r\n".join(rows)


def test_what_powershell_wrapped_is_joined_and_its_record_is_one_line() -> None:
    path = r"C:\job\training_of_the_large_model_with_pretrained_weights\loaders\record_reader_of_examples.py"
    frame = f'  File "{path}", line 40, in collate_the_batch_of_examples_by_length'
    errors = [
        "python : Traceback (most recent call last):",
        *[frame] * 3,
        "ValueError: the batch has examples of several lengths",
    ]
    for width, place in ((24, "At line:1 char:1"), (60, "In Zeile:1 Zeichen:1"), (31, "所在位置 行:1 字符: 106")):
        found = read_bytes(powershell(errors, width, place).encode("utf-16"))
        assert found.lines[0] == errors[0]
        assert found.lines[1].startswith(f"    {place} + python train.py + ~~~")
        assert [line for line in found.lines[2:] if line.strip()] == errors[1:]
        assert [w.kind for w in found.warnings] == ["unwrapped"]


def test_the_lines_of_a_patch_are_no_record_of_powershell() -> None:
    lines = ["@@ -1,3 +1,4 @@ at 1:40", "+ ~~~~~~~~", "+ one more line", "  as it was"]
    assert read_bytes("\n".join(lines).encode()).lines == lines
