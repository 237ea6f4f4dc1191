"""Whole cases: the log, the kernel's log and the program beside them make remedies with this case's lines and numbers."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.model import Advice
from tests.database.test_advice import KERNEL_OOM
from tests.readers.torch.test_architecture import KERAS

KILL = KERNEL_OOM.replace("409600kB", "1536000kB")
TRACE = 'Traceback (most recent call last):\n  File "/x/site-packages/keras/src/trainers/trainer.py", line 1, in fit\n    f()\n'
NO_GRADIENT = TRACE + "ValueError: No gradients provided for any variable.\n"


def advised(folder: Path, **files: str) -> tuple[Advice, ...]:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return analyze(folder).causes[0].remediations


def test_the_batch_that_fits_stands_first_with_its_arithmetic(tmp_path: Path) -> None:
    program = "import keras\nBATCH = 12800\nmodel.fit(x, batch_size=BATCH)\n"
    first, second, third, *_ = advised(tmp_path, kern_log=KILL, train_log=KERAS + "Epoch 1/5\nKilled\n", train_py=program)
    assert first.action.endswith("where it was 12800 (train.py:2)")
    for part in (
        "weights 1.18 MiB",
        "gradients 1.18 MiB",
        "optimizer 2.35 MiB",
        "activations",
        "the limit is 1.46 GiB",
        "noisier",
    ):
        assert part in first.why
    assert all("torch" not in c for a in (first, second, third) for c in a.commands)
    assert "gradients of" in second.action
    assert second.commands[0].startswith("keras.optimizers.Adam(gradient_accumulation_steps=")
    assert "mixed precision would save" in third.why


@pytest.mark.parametrize(
    ("program", "action", "why"),
    [
        (
            "import torch\nfor x in d:\n    losses.append(loss)\n",
            "Store a number instead of a tensor at train.py:3",
            "`losses.append(loss)` keeps",
        ),
        ("for x in d:\n    a = np.concatenate([a, x])\n", "instead of at train.py:2", "copies the old one"),
        (
            "import keras\nfor k in folds:\n    m = keras.Sequential([a])\n",
            "the loop at train.py:3",
            "Clearing also forgets every other model",
        ),
        (
            "import keras\nmodel.compile(run_eagerly=True)\n",
            "Run the steps as a graph, not eagerly (train.py:2)",
            "reuses buffers",
        ),
        (
            "import tensorflow as tf\nx = tf.image.resize(x, (224, 224))\nd = d.shuffle(10000)\n",
            "Shrink the shuffle buffer of 10000 elements (train.py:3)",
            "10,000 elements x 588 KiB = 5.61 GiB",
        ),
        (
            "import tensorflow as tf\nd = tf.data.Dataset.from_tensors(x)\nd = d.map(f)\n",
            "how many elements the map at train.py:3",
            "AUTOTUNE",
        ),
        ("d = pd.read_csv('x.csv')\n", "Read the file at train.py:1 in pieces", "columns that no model reads"),
    ],
)
def test_a_kill_names_the_programs_line(tmp_path: Path, program: str, action: str, why: str) -> None:
    found = advised(tmp_path, kern_log=KILL, train_log="Epoch 1\nKilled\n", train_py=program)
    assert [a for a in found if action in a.action and why in a.why]


PROFILE = """\
Filename: /home/user/run/train.py

Line #    Mem usage    Increment  Occurrences   Line Contents
=============================================================
     4     22.0 MiB     22.0 MiB           1   @profile
     5                                         def load(rows):
     6     29.2 MiB      7.2 MiB      100003       names = [str(n) for n in range(rows)]
     7    229.2 MiB    200.0 MiB           1       table = bytearray(200 << 20)
     8    429.2 MiB    200.0 MiB           1       copy = bytes(table)
     9    229.2 MiB   -200.0 MiB           1       del table
    10    229.2 MiB      0.0 MiB           1       return names, copy

"""


def test_the_line_that_a_memory_profile_puts_first_is_named(tmp_path: Path) -> None:
    """The table as memory_profiler 0.61 printed it; folders are renamed."""
    found = advised(tmp_path, kern_log=KILL, profile_log=PROFILE + "Killed\n")
    assert [a for a in found if a.action == "Start with train.py:7, which took 200 MiB in the memory profile"]


def test_of_a_profile_alone_the_largest_line_is_worth_knowing(tmp_path: Path) -> None:
    (tmp_path / "profile.log").write_text(PROFILE)
    (found,) = [n for n in analyze(tmp_path).notices if "of this profile" in n.why]
    assert (found.line, found.why[:23]) == (8, "train.py:7 took 200 MiB")


def test_a_kill_after_many_good_steps_is_no_batch_that_is_too_large(tmp_path: Path) -> None:
    epochs = "".join(f"Epoch {i}/100\n{i} loss: {1 / i:.4f} - 5s 4ms/step\n" for i in range(1, 28))
    found = advised(tmp_path, kern_log=KILL, train_log=epochs + "Killed\n")
    (grown,) = [a for a in found if a.action.startswith("Look for what grows")]
    assert "train.log:54" in grown.action
    assert not [a for a in advised(tmp_path, train_log=epochs[:90] + "Killed\n") if a.action.startswith("Look for what grows")]


@pytest.mark.parametrize(
    ("program", "action"),
    [
        (
            "def b():\n    xs = []\n    while True:\n        xs.append(read())\n        yield np.array(xs)\n",
            "Empty the list of train.py:4",
        ),
    ],
)
def test_a_bad_generator_or_loader_is_named(tmp_path: Path, program: str, action: str) -> None:
    found = advised(tmp_path, kern_log=KILL, train_log="Epoch 1\nKilled\n", train_py=program)
    assert [a for a in found if a.action.startswith(action)]


def test_a_loss_without_a_guard_comes_first_where_nan_came(tmp_path: Path) -> None:
    log = "".join(f"step {i} loss {0.5 if i < 9 else float('nan')}\n" for i in range(40))
    program = "import tensorflow as tf\ndef my_loss(y, p):\n    return -y * tf.math.log(p)\n"
    assert advised(tmp_path, train_log=log, train_py=program)[0].action == "Guard the logarithm or root at train.py:3"


def test_without_a_program_no_line_of_one_is_named(tmp_path: Path) -> None:
    assert not [a for a in advised(tmp_path, kern_log=KILL, train_log="Epoch 1\nKilled\n") if ".py:" in a.action]


def test_a_program_that_explains_nothing_is_no_advice(tmp_path: Path) -> None:
    """The model is small and the limit large: the arithmetic does not explain the kill, so no batch size is advised."""
    found = advised(tmp_path, kern_log=KILL, train_log=KERAS + "Killed\n", train_py="import keras\nmodel.fit(x, batch_size=8)\n")
    assert not [a for a in found if "samples a step" in a.action]


def test_a_gpu_that_ran_out_tells_a_batch_above_which_nothing_fits(tmp_path: Path) -> None:
    log = (
        "Namespace(batch_size=64, lr=0.1)\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which "
        "1.15 GiB is free. Including non-PyTorch memory, this process has 22.10 GiB memory in use. Of the allocated memory 21.50 GiB "
        "is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.\n"
    )
    first = advised(tmp_path, train_log=log)[0]
    assert first.action == "Take a batch of 32 or less in place of 64 (train.log:1)"
    assert "it already needed 23.5 GiB for 64 samples, so more than 63 cannot fit" in first.why


def test_a_value_that_left_the_tape_is_named(tmp_path: Path) -> None:
    program = "import tensorflow as tf\nwith tf.GradientTape() as t:\n    l = loss(x).numpy()\n"
    found = advised(tmp_path, train_log=NO_GRADIENT, train_py=program)
    assert found[0].action == "Keep the loss a tensor inside the tape; `l = loss(x).numpy()` at train.py:3 leaves it"


def test_a_build_for_the_cpu_is_told_as_such(tmp_path: Path) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/x/site-packages/torch/cuda/__init__.py", line 310, in _lazy_init\n'
        '    raise AssertionError("Torch not compiled with CUDA enabled")\n'
        "AssertionError: Torch not compiled with CUDA enabled\n"
    )
    first = advised(tmp_path, train_log=log)[0]
    assert first.action.startswith("Install a build of the framework that has code for GPUs")
    assert any("install --no-cache-dir torch" in c for c in first.commands)


def test_an_old_driver_is_told_the_one_that_the_release_needs(tmp_path: Path) -> None:
    log = (
        "| NVIDIA-SMI 470.82.01    Driver Version: 470.82.01    CUDA Version: 11.4     |\n"
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer version, "
        "or use an earlier cuda container: unknown\n"
    )
    first = advised(tmp_path, train_log=log)[0]
    assert first.action == "Update the driver from 470.82.01 to 525.60.13 or newer, which CUDA 12.4 needs"
    assert "CUDA 12.4 came with driver 550.54.14" in first.why


def imported(folder: Path, file: str) -> tuple[Advice, ...]:
    trace = f'Traceback (most recent call last):\n  File "{file}", line 3, in <module>\n    from src import data\n'
    return advised(folder, train_log=trace + "ModuleNotFoundError: No module named 'src'\n")


def test_a_package_of_the_program_itself_is_not_installed(tmp_path: Path) -> None:
    first, *_ = imported(tmp_path, "/home/user/project/src/scripts/train.py")
    assert first.action.startswith("Start the program from /home/user/project, where its package src lies")
    assert first.commands[0].startswith("cd /home/user/project && ")


def test_a_package_that_is_missing_is_installed(tmp_path: Path) -> None:
    first, *_ = imported(tmp_path, "/home/user/project/train.py")
    own = "Make src importable, which by its name is a part of the program itself"
    assert first.action == f"{own} - start it from the program's top folder, or install the program there"


def test_a_widely_used_package_is_installed_by_its_name(tmp_path: Path) -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    import cv2\n'
    first, *_ = advised(tmp_path, train_log=f"{text}ModuleNotFoundError: No module named 'cv2'\n")
    assert first.action == "Install opencv-python for the interpreter that runs the job"
    assert first.commands == ('python -m pip install "opencv-python"',)


def test_a_remedy_uses_what_its_condition_found_in_the_message(tmp_path: Path) -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 7, in f\n    x.size\n'
    first, *_ = advised(tmp_path, train_log=f"{text}AttributeError: 'NoneType' object has no attribute 'size'\n")
    assert first.action == "Give x its value before a.py:7 uses it - it is None there"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('Traceback (most recent call last):\n  File "train.py", line 3, in f\n    g()\nValueError: bad\n', "python -m pdb"),
        ("/app/x.js:3\n    at wrapSafe (node:internal/modules/cjs/loader:1666:18)\nSyntaxError: Unexpected token\n", ""),
        (
            "KeyError                Traceback (most recent call last)\nCell In[3], line 2\n      1 a\n----> 2 b\n\nKeyError: 'x'\n",
            "%debug",
        ),
    ],
)
def test_the_debugger_is_that_of_the_language_and_the_place(tmp_path: Path, text: str, named: str) -> None:
    commands = [c for a in advised(tmp_path, train_log=text) for c in a.commands if "pdb" in c or "%debug" in c]
    assert all(named in c for c in commands) if named else not commands
    assert bool(commands) == bool(named)
