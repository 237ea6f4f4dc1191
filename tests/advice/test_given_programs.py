"""Programs beside the logs: their settings and habits, with the line of the file on which each stands."""

import json
from pathlib import Path

import pytest

from forensics import sources
from forensics.model import HABITS, Program
from forensics.readers.programs.habits import read_program

TRAIN = """\
import torch
from torch.utils.data import DataLoader
BATCH = 64 * 2
if __name__ == "__main__":
    loader = DataLoader(data, batch_size=BATCH, num_workers=4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for x in loader:
        loss = model(x).mean()
"""


def read(folder: Path, text: str, name: str = "train.py") -> Program:
    (folder / name).write_text(text)
    (source,) = sources.open_paths([folder / name], lambda _w: None)
    assert source.code is not None
    return read_program(name, source.code())


def test_settings_are_followed_through_names(tmp_path: Path) -> None:
    found = {(r.kind, r.line): r.value for r in read(tmp_path, TRAIN).settings}
    assert found == {("batch_size", 3): 128, ("batch_size", 5): 128, ("workers", 5): 4, ("optimizer adamw", 6): None}


@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        ("batch_size: int = 16", "batch_size", 16),
        ("N = 2**5\nconfig = {'train_batch_size': N}", "batch_size", 32),
        ("N = 256 // 8\nDataLoader(data, N)", "batch_size", 32),
        ("images = data.map(f).batch(1 << 6)", "batch_size", 64),
        ("parser.add_argument('-b', '--batch-size', type=int, default=32)", "batch_size", 32),
        ("cut = MyTransform(8 / 2)\nloader(num_workers=8 / 2)", "workers", 4),
        ("model.compile(optimizer='adam', loss='mse')", "optimizer adam", None),
        ("scaler = torch.cuda.amp.GradScaler()", "mixed_precision", None),
        ("TrainingArguments('out', bf16=True)", "mixed_precision", None),
        ("model.add(Dense(8, input_shape=(28, 28, 1)))", "sample_values", 784),
        ("data = data.map(lambda x: tf.image.resize(x, [224, 224]))", "sample_values", 224 * 224 * 3),
    ],
)
def test_a_setting_is_read_however_it_is_written(tmp_path: Path, line: str, kind: str, value: float | None) -> None:
    assert {r.kind: r.value for r in read(tmp_path, line).settings} == {kind: value}


@pytest.mark.parametrize(
    "line",
    [
        "batch_size = len(data)", "N = 2**100\nDataLoader(data, N)", "N = -1 << 2\nloader(num_workers=N - 9)",
        "TrainingArguments('out', fp16=False)", "model.compile('my_own_optimizer')", "Resize(256)", "loader(num_workers=1 / 3)",
        "parser.add_argument('--batch-size', type=int)", "parser.add_argument(*names, default=4)",
    ],
)  # fmt: skip
def test_what_is_no_number_or_switched_off_is_no_setting(tmp_path: Path, line: str) -> None:
    assert not read(tmp_path, line).settings


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("y = F.scaled_dot_product_attention(q, k, v)", True),
        ("y = flash_attn_varlen_func(q, k, v)", True),
        ("m = AutoModel.from_pretrained(n, attn_implementation='sdpa')", True),
        ("m = AutoModel.from_pretrained(n, attn_implementation='eager')", False),
        ("y = torch.softmax(q @ k.T, -1) @ v", False),
    ],
)
def test_a_fused_attention_is_a_setting(tmp_path: Path, line: str, said: bool) -> None:
    assert ("fused_attention" in {r.kind for r in read(tmp_path, line).settings}) == said


@pytest.mark.parametrize(
    ("line", "habit"),
    [
        ("    losses.append(loss)", "kept_loss"),
        ("    total += loss", "kept_loss"),
        ("    total += loss * 2", "kept_loss"),
        ("    data = np.concatenate([data, x])", "grown_array"),
        ("    data = data.append(x)", "grown_array"),
        ("    model = keras.Sequential([x])", "rebuilt_model"),
        ("    step = tf.function(train)", "retraced"),
        ("mp.set_start_method('spawn')", "start_method"),
        ("p = mp.Process(target=f)", "no_main_guard"),
        ("def f():\n    global n\n    n += 1\ndef main():\n    threading.Thread(target=f)", "shared_without_lock"),
        ("d = tf.data.Dataset.from_tensors(x)\nd = d.map(f)", "serial_map"),
        ("d = tf.py_function(f, [x], tf.float32)", "python_in_pipeline"),
        ("d = tf.data.Dataset.from_tensors(x)\ny = cv2.resize(x, (1, 1))", "opencv_in_pipeline"),
        ("d = tf.data.Dataset.from_tensors(x)\nd = d.cache().batch(8)", "cached_dataset"),
        ("d = pd.read_csv('x')", "read_at_once"),
        ("model.compile(run_eagerly=True)", "eager"),
        ("with tf.GradientTape() as t:\n    y = loss.numpy()", "left_the_tape"),
        ("def batches():\n    xs = []\n    while True:\n        xs.append(read())\n        yield np.array(xs)", "growing_batch"),
        ("kept = []\nwhile True:\n    kept.append(bytearray(4 << 20))", "growing_list"),
        ("def my_loss(y, p):\n    return -y * tf.math.log(p)", "unguarded_log"),
        ("class FocalLoss(nn.Module):\n    def forward(self, p):\n        return torch.sqrt(p).mean()", "unguarded_log"),
        ("x = LSTM(8, stateful=True)(x)", "stateful_layer"),
    ],
)
def test_each_habit_is_seen(tmp_path: Path, line: str, habit: str) -> None:
    given = f"for x in loader:\n{line}\n" if line.startswith("    ") else f"{line}\n"
    assert {h.kind for h in read(tmp_path, given).habits} == {habit}
    assert habit in HABITS


@pytest.mark.parametrize(
    "line",
    [
        "    losses.append(loss.item())",
        "    layers.append(nn.Sequential(conv))",
        "def reset():\n    keras.backend.clear_session()\nfor n in sizes:\n    reset()\n    m = keras.Model(a, b)",
        "model.compile(run_eagerly=False)",
        "    total += float(loss)",
        "    total += loss.detach()",
        "    names.append(name)",
        "kept = []\nfor x in d:\n    kept.append(float(x))",
        "kept = []\nfor x in d:\n    kept.append(x)\n    kept.clear()",
        "for e in d:\n    kept = []\n    for x in e:\n        pass\n    kept.append(x)",
        "    data = np.concatenate([a, b])",
        "    model = keras.Sequential([x])\n    keras.backend.clear_session()",
        "if __name__ == '__main__':\n    mp.set_start_method('spawn')",
        "def main():\n    mp.Process(target=f)",
        "d = tf.data.Dataset.from_tensors(x)\nd = d.map(f, num_parallel_calls=tf.data.AUTOTUNE)",
        "d = pd.read_csv('x', chunksize=1000)",
        "d = tf.data.Dataset.from_tensors(x)\nd = d.cache('/scratch/x').batch(8)",
        "x = list(map(f, y))",
        "def batches():\n    while True:\n        xs = []\n        xs.append(read())\n        yield np.array(xs)",
        "def my_loss(y, p):\n    return -y * tf.math.log(p + 1e-8) - torch.log(p.clamp(min=1e-6))",
        "def accuracy(y, p):\n    return tf.math.log(p)",
        "x = LSTM(8, stateful=False)(x)",
    ],
)
def test_what_does_no_harm_is_no_habit(tmp_path: Path, line: str) -> None:
    given = f"for x in loader:\n{line}\n" if line.startswith("    ") else f"{line}\n"
    assert read(tmp_path, given).habits == ()


def test_every_habit_of_the_list_is_tested() -> None:
    pairs = next(m for m in test_each_habit_is_seen.pytestmark if m.name == "parametrize").args[1]  # type: ignore[attr-defined]
    assert {habit for _, habit in pairs} == HABITS.keys()


def test_cells_are_read_one_by_one_with_the_lines_of_the_file(tmp_path: Path) -> None:
    def cell(*lines: str) -> dict[str, object]:
        return {"cell_type": "code", "source": [f"{x}\n" for x in lines], "execution_count": 1, "outputs": [], "metadata": {}}

    notebook = {
        "cells": [
            cell("%pip install x", "import keras"),
            cell("this is no python"),
            cell("for x in y:", "    losses.append(loss)"),
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    text = json.dumps(notebook, indent=1)
    found = read(tmp_path, text, "train.ipynb")
    (habit,) = found.habits
    assert text.splitlines()[habit.line - 1].strip() == '"    losses.append(loss)\\n"'
    assert [f for f, _ in found.frameworks] == ["keras"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ncfg = dict(lr=1e-3)\n", [("cfg", "train.py:2", "cfg = dict(lr=1e-3)")]),
        ("cfg: dict = {\n  'lr': 1,\n}\n", [("cfg", "train.py:1", "cfg: dict = {\u2026")]),
        ("cfg = {'lr': 1}\nfor cfg in grid: pass\n", []),
        ("cfg = {**base, 'lr': 1}\na = dict(base)\nb = dict(**base)\nc = load()\n", []),
    ],
)
def test_mappings_that_are_written_out_once(tmp_path: Path, text: str, told: list[tuple[str, str, str]]) -> None:
    assert [(m.name, m.place, m.statement) for m in read(tmp_path, text).maps] == told


def test_a_cell_is_called_by_the_number_with_which_it_ran(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "execution_count": 7, "source": ["import os\n", "cfg = {'lr': 1}\n"]}
    found = read(tmp_path, json.dumps({"cells": [cell]}), "train.ipynb")
    assert [(m.name, m.place) for m in found.maps] == [("cfg", "cell 7, line 2")]


def test_configurations_are_read_line_by_line(tmp_path: Path) -> None:
    given = '{\n "train_micro_batch_size_per_gpu": 4,\n "gradient_accumulation_steps": 8,\n "lr": 0.1\n}\n'
    assert {(r.kind, r.value) for r in read(tmp_path, given, "ds.json").settings} == {("batch_size", 4), ("accumulation", 8)}


@pytest.mark.parametrize(
    "given", ["def f(:\n", "\x00", "x" * 10_000 + "(", "(" * 5000, "é\ud800".encode("utf-8", "replace").decode()]
)
def test_what_is_no_program_is_nothing(tmp_path: Path, given: str) -> None:
    found = read_program("train.py", [])
    assert found.settings == found.habits == ()
    from forensics.model import CodePart, Line

    parts = [CodePart("", tuple(Line(n, t) for n, t in enumerate(given.splitlines(), 1)))]
    assert read_program("train.py", parts).habits == ()
