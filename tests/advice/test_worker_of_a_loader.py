"""An exception of a data loader's worker is told as one, and the debugger is started where it can stop."""

from pathlib import Path

import pytest

from forensics import analyze

LIBRARY = "/opt/lib/python3.11/site-packages/torch"
FAILED = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in main
    for step, (x, y) in enumerate(DataLoader(Pets(), batch_size=8, num_workers=2)):
  File "{library}/utils/data/dataloader.py", line 725, in __next__
    data = self._next_data()
  File "{library}/_utils.py", line 794, in reraise
    raise exception
{caught}
Original Traceback (most recent call last):
  File "{library}/utils/data/_utils/fetch.py", line 54, in fetch
    data = [self.dataset[idx] for idx in possibly_batched_index]
  File "/home/u/train.py", line 8, in __getitem__
    return torch.randn(8), LABELS[name]
                           ~~~~~~^^^^^^
KeyError: 'bird'
"""


@pytest.mark.parametrize("number", [0, 3])
def test_the_summary_names_the_worker_and_no_remedy_fails_again(tmp_path: Path, number: int) -> None:
    caught = f"KeyError: Caught KeyError in DataLoader worker process {number}."
    (tmp_path / "train.log").write_text("epoch 0 step 3 loss 0.60\n" + FAILED.format(library=LIBRARY, caught=caught))
    found = analyze(tmp_path / "train.log", workers=1).causes[0]
    assert f"It was raised in worker {number} of a DataLoader" in found.summary
    commands = [c for r in found.remediations for c in r.commands]
    assert not any("Print LABELS[name]" in r.action for r in found.remediations)
    assert all("num_workers=0" in c for c in commands if "pdb" in c)
