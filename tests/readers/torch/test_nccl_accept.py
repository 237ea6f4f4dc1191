"""A connection that ended before NCCL accepted it is no peer that was lost."""

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.readers.torch.nccl_accept import TRIGGER, read
from tests.conftest import text_source
from tests.readers.regions import regions

CLOSED = "n2:3358:3391 [2] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer 198.51.100.7<46494>\n"
RETURNS = "n2:3358:3391 [2] NCCL INFO misc/socket.cc:58 -> 6\nn2:3358:3391 [2] NCCL INFO misc/socket.cc:430 -> 6\n\n"
FAILED = "n2:3358:3391 [2] proxy.cc:1494 NCCL WARN [Service thread] Accept failed Success\n"


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        (CLOSED + RETURNS + FAILED, [(1, 5)]),
        ((CLOSED + RETURNS + FAILED) * 2, [(1, 5), (6, 10)]),
        (CLOSED.replace("3391", "4000") + RETURNS + FAILED, []),  # another thread lost its peer
        (CLOSED + "step 4 loss 2.1\n" + FAILED, []),
        (RETURNS + FAILED, []),
    ],
)
def test_the_lines_from_the_closed_connection_to_the_refusal_are_one_record(text: str, spans: list[tuple[int, int]]) -> None:
    records = [read(region) for region in regions(text, TRIGGER)]
    assert [(r.first, r.last) for r in records if r] == spans


def test_a_knock_is_no_alarm_and_a_lost_peer_is_one(knowledge: Database) -> None:
    steps = "".join(f"epoch 1 step {n} loss {3 - n / 20:.2f}\n" for n in range(20))
    more = "".join(f"epoch 2 step {n} loss {2 - n / 20:.2f}\n" for n in range(20))
    knock = pipeline.analyze([text_source("train.log", steps + CLOSED + RETURNS + FAILED + more)], "case", knowledge)
    assert knock.causes[0].id == "none.healthy"
    lost = pipeline.analyze([text_source("train.log", steps + CLOSED + RETURNS)], "case", knowledge)
    assert lost.verdict != "no_crash"
    assert any(cause.id == "distributed.peer_lost" for cause in lost.causes)
