"""How far an attempt came, by what it printed itself."""

from forensics.database import Database
from forensics.readers.settings.attempts import attempt_facts
from forensics.scan import scan
from tests.conftest import text_source

RAISED = """\
Traceback (most recent call last):
  File "/home/ann/run/train.py", line 40, in <module>
    loss.backward(); opt.step(); step += 1
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x64 and 48x10)
"""


def test_the_code_that_a_traceback_quotes_tells_no_step(knowledge: Database) -> None:
    for epochs, reached in ((3, "epoch 3"), (0, None)):
        text = "".join(f"Epoch {n} loss {2 / n:.3f}\n" for n in range(1, epochs + 1)) + RAISED
        (told,) = attempt_facts(scan(text_source("train.log", text), knowledge, lambda _warning: None), [(1, text.count("\n"))])
        assert dict(told.said.get("reached", ())).keys() == ({reached} if reached else set())
