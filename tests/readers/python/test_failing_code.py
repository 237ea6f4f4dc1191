"""The code that failed: its statement, the values in it and the line that called it, in each form in which tracebacks quote code."""

import pytest

from forensics.model import Proof
from forensics.readers.python.failing_code import failing_code

CPYTHON = (
    "Traceback (most recent call last):",
    '  File "/home/u/eval.py", line 7, in main',
    "    run(sentences)",
    '  File "/home/u/repeat.py", line 64, in run',
    "    words = random.sample(range(1, actual), k=wanted)",
    '  File "/usr/lib/python3.9/random.py", line 449, in sample',
    '    raise ValueError("Sample larger than population or is negative")',
    "ValueError: Sample larger than population or is negative",
)
MARKED = (
    "[rank1]: Traceback (most recent call last):",
    '[rank1]:   File "/home/u/repeat.py", line 9, in run',
    "[rank1]:     total = start + scale(left @ right)",
    "[rank1]:                           ~~~~~^~~~~~~",
    "[rank1]: RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)",
)
NOTEBOOK = (
    "RuntimeError                              Traceback (most recent call last)",
    "Cell In[3], line 2",
    "      1 model = build()",
    "----> 2 loss = criterion(",
    "      3     outputs.view(-1), batch['labels'])",
    "",
    "RuntimeError: shape '[-1]' is invalid",
)
COMPREHENSION = (  # IPython marks the row above the statement in the frame of the comprehension
    "KeyError                                  Traceback (most recent call last)",
    "Cell In[2], line 2, in collate(batch)",
    "      1 def collate(batch):",
    "----> 2     return [r['label'] for r in batch]",
    "",
    "Cell In[2], line 2, in collate.<locals>.<listcomp>(.0)",
    "----> 2 def collate(batch):",
    "      3     return [r['label'] for r in batch]",
    "",
    "KeyError: 'label'",
)
RICH = (
    "╭───────────────── Traceback (most recent call last) ─────────────────╮",
    "│ /home/u/a_very_long_name_of_a_folder/with_another_folder/run_bench   │",
    "│ .py:290 in                                                           │",
    "│ sample                                                               │",
    "│                                                                      │",
    "│   289 │   # the rest                                                 │",
    "│ ❱ 290 │   spent = now() - begun                                      │",
    "│   291 │   return spent                                               │",
    "╰──────────────────────────────────────────────────────────────────────╯",
    "UnboundLocalError: local variable 'begun' referenced before assignment",
)
RAISES = (
    "Traceback (most recent call last):",
    '  File "/home/u/run.py", line 3, in <module>',
    "    check(mode)",
    '  File "/home/u/modes.py", line 8, in check',
    '    raise ValueError("unknown mode")',
    "ValueError: unknown mode",
)
CALLED = (
    "Traceback (most recent call last):",
    '  File "/home/u/run.py", line 70, in <module>',
    "    trainer.train(resume_from_checkpoint=last)",
    '  File "/opt/py/lib/python3.9/site-packages/transformers/trainer.py", line 1166, in train',
    "ValueError: chunk expects at least a 1-dimensional tensor",
)

CUT = (  # before 3.13 a traceback quotes the first line of a statement alone
    "Traceback (most recent call last):",
    '  File "/home/u/eval.py", line 9, in <module>',
    "    model.score(",
    "RuntimeError: batch1 must be a 3D tensor",
)


@pytest.mark.parametrize(
    ("lines", "place", "expected"),
    [
        (
            CPYTHON,
            ("/home/u/repeat.py", 64),
            {
                "code_line": "words = random.sample(range(1, actual), k=wanted)",
                "code_values": "actual and wanted",
                "caller_place": "/home/u/eval.py:7",
                "caller_line": "run(sentences)",
            },
        ),
        (MARKED, ("/home/u/repeat.py", 9), {"code_line": "total = start + scale(left @ right)", "code_values": "left and right"}),
        (
            NOTEBOOK,
            ("Cell In[3]", 2),
            {"code_line": "loss = criterion( outputs.view(-1), batch['labels'])", "code_values": "outputs and batch['labels']"},
        ),
        (COMPREHENSION, ("Cell In[2]", 2), {"code_line": "return [r['label'] for r in batch]", "code_values": "batch"}),
        (
            RICH,
            ("/home/u/a_very_long_name_of_a_folder/with_another_folder/run_bench.py", 290),
            {"code_line": "spent = now() - begun", "code_values": "begun"},
        ),
        (
            RAISES,
            ("/home/u/modes.py", 8),
            {
                "code_line": 'raise ValueError("unknown mode")',
                "raised_code": 'raise ValueError("unknown mode")',
                "caller_place": "/home/u/run.py:3",
                "caller_line": "check(mode)",
            },
        ),
        (
            CALLED,
            ("/home/u/run.py", 70),
            {"code_line": "trainer.train(resume_from_checkpoint=last)", "code_values": "last"},
        ),
        (RAISES, ("/home/u/other.py", 8), {}),
        (CUT, ("/home/u/eval.py", 9), {"code_line": "model.score("}),
    ],
)
def test_code_of_the_place(lines: tuple[str, ...], place: tuple[str, int], expected: dict[str, str]) -> None:
    proof = Proof("train.log", len(lines), lines[-1], "x", "strong")
    assert failing_code({"file": place[0], "line_no": place[1]}, (proof,), lambda _: (lines, len(lines) - 1)) == expected


@pytest.mark.parametrize(
    ("code", "marks", "error", "values"),
    [
        (
            "return torch.randn(8), LABELS[name]",
            "                       ~~~~~~^^^^^^",
            "KeyError: 'bird'",
            "name and list(LABELS)",
        ),
        ("x = rows[i + 1]", "    ~~~~^^^^^^^", "IndexError: list index out of range", "i and len(rows)"),
        ("x = config[key]", "    ~~~~~~^^^^^", "TypeError: 'int' object is not subscriptable", "key and type(config)"),
        ("x = self.net.width", "    ^^^^^^^^^^^^^^", "AttributeError: 'Net' object has no attribute 'width'", "self.net"),
        ("x = rows[0] + shift", "    ~~~~~~~~^~~~~~~", "TypeError: unsupported operand type(s) for +", "rows[0] and shift"),
    ],
)
def test_what_failed_is_never_printed_again(code: str, marks: str, error: str, values: str) -> None:
    lines = ["Traceback (most recent call last):", '  File "/home/u/a.py", line 8, in f', f"    {code}", f"    {marks}", error]
    raised, _, message = error.partition(": ")
    proof = Proof("a.log", 5, error, "code.exception/final_line", "hint")
    facts = {"file": "/home/u/a.py", "line_no": 8, "exc_type": raised, "exc_message": message}
    assert failing_code(facts, [proof], lambda _: (lines, 4))["code_values"] == values
