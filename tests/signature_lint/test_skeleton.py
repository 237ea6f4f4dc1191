"""What varies in the line of an example has a part in the message of a new file, and what tells the fault stays."""

import pytest

from forensics.signature_lint.skeleton import _with_numbers


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lost ring 7 in epoch 3 after 12.5 s", "lost ring {n1:int} in epoch {n2:int} after {n3:number} s"),
        ("rank 2: shard 12/40, epoch=3.", "rank {n1:int}: shard {n2:int}/{n3:int}, epoch={n4:int}."),
        ("ring[7] (part 2)", "ring[{n1:int}] (part {n2:int})"),
        ("error 79, exit status 41, code: 3", "error 79, exit status 41, code: 3"),
        ("v1.2.3 of E4711 at 10:00:05 in /data/3/x, rank2", "v1.2.3 of E4711 at 10:00:05 in /data/3/x, rank2"),
    ],
)
def test_numbers_that_vary_are_parts(line: str, message: str) -> None:
    assert _with_numbers(line) == message
