"""One launcher of several was stopped. The lines are those of torchrun with two and three agents (f0, f1, f4 of the captures)."""

from pathlib import Path

import pytest

from forensics.cli.ranks import _picture

AGENT = "torch/distributed/elastic"
FRAMES = '[rank{rank}]:   File "/run/mix.py", line 43, in mean\n[rank{rank}]:     dist.all_reduce(t)\n'
LOST = (
    "[rank{rank}]: Traceback (most recent call last):\n"
    + FRAMES
    + "[rank{rank}]: RuntimeError: [/__w/pytorch/pytorch/third_party/"
    "gloo/gloo/transport/tcp/pair.cc:537] Read error [127.0.0.1]:4787: Connection reset by peer. This is typically caused by a "
    "remote worker hanging or bugs in the application. Check the logs of the remote worker before reporting an error. GLHF!\n"
)


def stopped(agent: int, *workers: int) -> str:
    head = f"W1201 05:11:27.211000 {agent} {AGENT}/agent/server/api.py:753] Received 15 death signal, shutting down workers\n"
    closing = (f"W1201 05:11:27.212000 {agent} {AGENT}/multiprocessing/api.py:1028] Sending process {pid} closing signal SIGTERM\n" for pid in workers)  # fmt: skip
    end = f"torch.distributed.elastic.multiprocessing.api.SignalException: Process {agent} got signal: 15\n"
    return f"step 20 loss 0.4\n{head}{''.join(closing)}Traceback (most recent call last):\n{end}"


def lost(*ranks: int) -> str:
    return "step 20 loss 0.4\n" + "".join(LOST.format(rank=rank) for rank in ranks)


@pytest.mark.parametrize(
    ("logs", "ranks"),
    [
        ((lost(0, 1), stopped(4400, 51, 52)), [2, 3]),
        ((stopped(4400, 51), lost(1, 2)), [0]),
        ((lost(0), lost(1), stopped(4400, 51, 52)), [2, 3]),
        ((lost(0, 3), stopped(4400, 51)), []),  # one of 1 and 2, or neither
        ((lost(0, 1) + stopped(4400, 51, 52),), []),  # one launcher of all: who stopped it ended the run
        ((lost(0, 1), stopped(4400, 51, 52), stopped(4500, 53)), []),
        ((stopped(4400, 51, 52), "step 20 loss 0.4\n"), []),
    ],
)
def test_the_ranks_of_the_launcher_that_was_stopped_are_those_that_are_left(
    logs: tuple[str, ...], ranks: list[int], tmp_path: Path
) -> None:
    for node, text in enumerate(logs):
        (tmp_path / f"node{node}.log").write_text(text)
    (tmp_path / "queue.log").write_text(
        "03:11:26 qctl[90]: step 7.1 reached its TIME LIMIT\n03:11:27 qctl[90]: SIGTERM to pid 4400\n"
    )
    if not ranks:
        with pytest.raises(Exception, match="no log that says that a rank ended"):
            _picture([tmp_path], 1)
        return
    odd = _picture([tmp_path], 1).odd
    assert [one.rank for one in odd] == ranks and {one.kind for one in odd} == {"left"}
    assert odd[0].others is not None and odd[0].others.place == "mix.py:43"
    shown = [f"{Path(proof.source).name}:{proof.line}" for proof in odd[0].proofs]
    assert shown[0] == "queue.log:2" and shown[1].startswith("node")
