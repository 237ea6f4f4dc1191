"""The packages at the end of a traceback, and a library's line, which no remedy tells to correct."""

import pytest

from forensics.model import Proof, Value
from forensics.readers.python.failing_code import advised_code, library_code

SITE = "/opt/py/lib/python3.9/site-packages"
ASKED = (
    "Traceback (most recent call last):",
    '  File "/home/u/run.py", line 2, in <module>',
    "    import soundbank",
    f'  File "{SITE}/soundbank/tune.py", line 7, in <module>',
    "    import skimage.io",
    f'  File "{SITE}/skimage/io.py", line 31, in load',
    "    return scipy.misc.imread(path)",
    "AttributeError: module 'scipy' has no attribute 'misc'",
)
LOOP = (
    "Traceback (most recent call last):",
    r'  File "c:\python37\lib\site-packages\ipykernel\kernelapp.py", line 477, in start',
    r'  File "c:\python37\lib\site-packages\tornado\platform\asyncio.py", line 148, in start',
    r'  File "c:\python37\lib\asyncio\base_events.py", line 521, in run_forever',
    "RuntimeError: This event loop is already running",
)
OWN = (
    "Traceback (most recent call last):",
    f'  File "{SITE}/tornado/web.py", line 3, in run',
    '  File "/home/u/run.py", line 2, in get',
    "KeyError: 'tune'",
)
LOOKED_UP = (
    "Traceback (most recent call last):",
    '  File "/home/u/run.py", line 352, in after',
    "    took = end - self.start_time",
    f'  File "{SITE}/torch/nn/modules/module.py", line 1614, in __getattr__',
    "    raise AttributeError(",
    "AttributeError: 'Tracer' object has no attribute 'start_time'",
)
COMPILED = (f"{SITE}/flash_attn_2_cuda.cpython-39-x86_64-linux-gnu.so: undefined symbol: _ZN2at4_ops3sumE",)
OF_PYTHON = (
    "Traceback (most recent call last):",
    '  File "/usr/lib/python3.9/json/decoder.py", line 355, in raw_decode',
    "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
)


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        (
            ASKED,
            {
                "library_place": "skimage/io.py:31",
                "raising_package": "scikit-image",
                "calling_package": "soundbank",
                "asked_package": "scipy",
            },
        ),
        (
            LOOP,
            {"library_place": r"tornado\platform\asyncio.py:148", "raising_package": "tornado", "calling_package": "ipykernel"},
        ),
        (OWN, {}),
        (LOOKED_UP, {}),
        (OF_PYTHON, {"library_place": "json/decoder.py:355"}),
        (COMPILED, {"extension_package": "flash-attn"}),
        ((), {}),
    ],
)
def test_the_packages_of_the_last_frames_are_told(lines: tuple[str, ...], facts: dict[str, str]) -> None:
    proof = Proof("job.log", len(lines), lines[-1] if lines else "", "final_line", "hint")
    told = library_code([proof], lambda _: (lines, len(lines) - 1))
    assert {name: value for name, value in told.items() if name != "python_release"} == facts
    assert library_code([]) == {}


@pytest.mark.parametrize(
    ("file", "kept"),
    [("/home/u/run.py", True), (f"{SITE}/tornado/web.py", False), ("<decorator-gen-7>", False), ("<ipython-input-3-1f>", True)],
)
def test_a_line_of_a_library_is_no_line_to_correct(file: str, kept: bool) -> None:
    facts: dict[str, Value] = {"file": file, "line_no": 3, "exc_type": "KeyError"}
    assert advised_code(facts) == (facts if kept else {"exc_type": "KeyError"})
