"""What XLA planned for a step: as a program prints it, and below an out-of-memory error of a GPU."""

from collections.abc import Callable

import pytest

from forensics.database import Database
from forensics.model import Line, Report
from forensics.readers.tensorflow.xla_plan import read_plan
from tests.report.samples import sample

STATS = """\
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    1.50GiB
              constant allocation:         4B
        maybe_live_out allocation:    1.00GiB
     preallocated temp allocation:    8.00GiB
  preallocated temp fragmentation:         0B (0.00%)
                 total allocation:   10.50GiB
Peak buffers:
\tBuffer 1:
\t\tSize: 4.00GiB
\t\tOperator: op_name="jit(step)/jit(main)/dot_general" source_file="/home/me/run/model.py" source_line=175
\t\tXLA Label: custom-call
\t\tShape: f32[4096,262144]
\t\t==========================
"""


def lines(text: str) -> list[Line]:
    return [Line(n, line) for n, line in enumerate(text.splitlines(), 1)]


def test_the_buffers_of_a_failed_step_are_read() -> None:
    plan = read_plan(lines(STATS))
    assert plan
    assert (plan.arguments, plan.results, plan.in_work, plan.largest_bytes) == (3 << 29, 1 << 30, 8 << 30, 4 << 30)
    assert plan.largest and plan.largest.place == "model.py:175"


def test_a_buffer_of_a_library_names_no_line(analyze: Callable[..., Report]) -> None:
    library = STATS.replace("/home/me/run/model.py", "/venv/lib/python3.11/site-packages/flax/linen/linear.py")
    assert not any("largest buffer" in a.action for a in analyze(train_log=library).causes[0].remediations)


@pytest.mark.parametrize("cut", ["preallocated temp allocation", "parameter allocation"])
def test_half_a_plan_is_none(cut: str) -> None:
    assert read_plan(lines("".join(x for x in STATS.splitlines(keepends=True) if cut not in x))) is None


def test_the_line_of_the_largest_buffer_is_named(analyze: Callable[..., Report]) -> None:
    advice = analyze(train_log=STATS).causes[0].remediations
    assert any("model.py:175" in a.action and "4 GiB" in a.action for a in advice)


def test_without_a_plan_a_summary_gives_no_number_for_jax(knowledge: Database) -> None:
    """Layers that are counted tell too little of what XLA holds on a CPU: no batch size is advised, XLA is asked."""
    report = sample("jax_big_batch", knowledge)
    first = report.causes[0].remediations[0]
    assert "4096 (jax_big_batch.py:9)" in first.action
    assert "memory_analysis()" in first.commands[0]
    assert not any("samples a step at most" in a.action for a in report.causes[0].remediations)


def test_with_a_plan_the_batch_that_fits_is_advised(knowledge: Database) -> None:
    advice = sample("jax_planned_batch", knowledge).causes[0].remediations
    assert advice[0].action.startswith("Train with 671 samples a step at most, where it was 4096")
    assert advice[1].commands[0].startswith("optimizer = optax.MultiSteps(optimizer, every_k_schedule=8)")
