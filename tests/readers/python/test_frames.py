"""One definition of a frame reads each form in which one is printed, and no other line."""

import pytest

from forensics.readers.python.frames import (
    colab_frame,
    dump_frame,
    file_frame,
    frame_of,
    is_bare_frame,
    rich_frame,
    spy_frame,
    syntax_place,
)

CODE = ["      2     x = 1", "----> 3     return model(x)", "      4 "]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('  File "/home/u/train.py", line 12, in main', ("/home/u/train.py", 12, "main", "traceback")),
        ('  File "/home/u/train.py", line 12, in <genexpr>', ("/home/u/train.py", 12, "<genexpr>", "traceback")),
        ('  File "/home/u/train.py", line 12 in main', ("/home/u/train.py", 12, "main", "dump")),
        ('  File "/home/u/train.py", line 12', ("/home/u/train.py", 12, "", "place")),
        ("File /home/u/train.py:12, in main(x)", ("/home/u/train.py", 12, "main", "ipython")),
        ("Cell In[3], line 12, in main(x)", ("Cell In[3]", 12, "main", "cell")),
        ("Input In [3], in <cell line: 4>()", ("Cell In[3]", 3, "", "cell")),
        ("<ipython-input-7-adef1f> in step(x)", ("Cell In[7]", 3, "step", "cell")),
        ("~/seg/unet.py in forward(self, x)", ("~/seg/unet.py", 3, "forward", "old")),
        ("/home/u/a.ipynb Cell 3 line 1", ("/home/u/a.ipynb Cell 3", 3, "", "editor")),
    ],
)
def test_each_form_of_a_traceback_is_read(text: str, told: tuple[str, int, str, str]) -> None:
    frame = frame_of(text, CODE)
    assert frame is not None
    assert (frame.file, frame.line, frame.function, frame.form) == told


@pytest.mark.parametrize("text", ["train.py ended", "File not found: a.py", "in main", "main (train.py)", ""])
def test_another_line_is_no_frame(text: str) -> None:
    assert frame_of(text) is None
    assert spy_frame(text) is None
    assert rich_frame(text) is None
    assert colab_frame(text, CODE) is None


def test_a_dump_is_told_from_a_traceback() -> None:
    assert dump_frame('  File "a.py", line 3 in f') is not None
    assert dump_frame('  File "a.py", line 3, in f') is None


def test_other_programs_print_frames_too() -> None:
    spy = spy_frame("    main (train.py:12)")
    assert spy is not None and (spy.file, spy.line, spy.function) == ("train.py", 12, "main")
    rich = rich_frame("│ /home/u/train.py:12 in main      │")
    assert rich is not None and (rich.file, rich.line) == ("/home/u/train.py", 12)
    colab = colab_frame("[~/seg/unet.py](https://localhost/x) in forward(self, x)", CODE)
    assert colab is not None and (colab.file, colab.line) == ("~/seg/unet.py", 3)
    assert colab_frame("[~/seg/unet.py](https://localhost/x) in forward(self, x)", []) is None


def test_what_stands_before_a_frame_is_kept() -> None:
    frame = file_frame('[rank3]:   File "a.py", line 3, in f')
    assert frame is not None and frame.head == "[rank3]:   "
    assert is_bare_frame('  File "a.py", line 3, in f')
    assert not is_bare_frame('error in File "a.py", line 3, in f')


def test_the_place_of_a_syntax_error_is_read() -> None:
    place = syntax_place('  File "/home/u/train.py", line 3')
    assert place is not None and (place.file, place.line) == ("/home/u/train.py", 3)
    cell = syntax_place("  Cell In[3], line 1")
    assert cell is not None and (cell.file, cell.line) == ("Cell In[3]", 1)
    assert syntax_place("    def f(") is None
