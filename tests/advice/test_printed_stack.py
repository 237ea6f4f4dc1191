"""Conditions of remedies see the frames of the stack around the evidence, not other lines there."""

from forensics.readers.python.frames import frames_near

TRACEBACK = """epoch 3 optimizer.step is next
Traceback (most recent call last):
  File "/home/ann/run/train.py", line 155, in main
    optimizer.step()
  File "/env/lib/python3.11/site-packages/torch/optim/adamw.py", line 101, in step
    state["exp_avg_sq"] = torch.zeros_like(p)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.12 GiB.
wandb: waiting""".splitlines()


def test_the_frames_above_a_message_and_their_code_are_near_it() -> None:
    assert frames_near(TRACEBACK, 6) == TRACEBACK[2:6]
    assert frames_near(TRACEBACK[-2:], 0) == []


def test_the_kernels_frames_stand_below_its_message() -> None:
    lines = ["INFO: task x:1 blocked for more than 120 seconds.", "Call Trace:", " rpc_wait+0x1e/0x90 [sunrpc]", "step 1"]
    assert frames_near(lines, 0) == lines[2:4]
