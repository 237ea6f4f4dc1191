"""What docker compose prints of several services is the log of each."""

import io
from pathlib import Path

import pytest

from forensics.model import Source
from forensics.sources import open_paths
from forensics.sources.stdin import KEPT_BYTES, stream_sources

STACK = (
    "Attaching to redis-1, trainer-1\n"
    "redis-1    | Ready to accept connections tcp\n"
    "trainer-1  | Traceback (most recent call last):\n"
    "redis-1    | 1 changes in 60 seconds. Saving...\n"
    '\x1b[36mtrainer-1  | \x1b[0m  File "/app/train.py", line 3, in <module>\n'
    "trainer-1  | RuntimeError: no data\n"
    "\r\x1b[Ktrainer-1 exited with code 3\n"
    "redis-1    | Background saving terminated with success\n"
    "redis-1    | DB saved on disk\n"
    "redis-1    | Saving the final RDB snapshot before exiting.\n"
    "redis-1 exited with code 0\n"
)


def read(source: Source) -> tuple[list[str], list[int]]:
    """The lines of a source, and their numbers in the file."""
    text = b"".join(source.blocks(lambda _w: None)).decode()
    lines = text.removesuffix("\n").split("\n")
    return lines, [source.number_of(n) for n in range(1, len(lines) + 1)]


def opened(folder: Path, text: str) -> dict[str, Source]:
    file = folder / "compose.log"
    file.write_bytes(text.encode())
    return {source.name.removeprefix(str(folder) + "/"): source for source in open_paths([file], lambda _w: None)}


def test_each_service_has_a_log_of_its_own_with_the_numbers_of_the_whole(tmp_path: Path) -> None:
    found = opened(tmp_path, STACK)
    assert [*found] == ["compose.log!redis-1", "compose.log!trainer-1", "compose.log"]
    lines, numbers = read(found["compose.log!trainer-1"])
    assert numbers == [3, 5, 6, 7] and lines[0] == "Traceback (most recent call last):" and lines[2] == "RuntimeError: no data"
    assert lines[1].endswith('  File "/app/train.py", line 3, in <module>') and "trainer-1 exited with code 3" in lines[3]
    assert read(found["compose.log"]) == (["Attaching to redis-1, trainer-1"], [1])


@pytest.mark.parametrize(
    "time",
    [
        "2026-08-22T03:00:07.1234567Z ",
        "2026-08-22T03:00:07.123456Z 01O ",
        "2026-08-22T03:00:07.123456Z 01O+",
        "2026-08-22 03:00:07,123 ",
        "[2026-08-22T03:00:07+02:00] ",
        "Aug 22 03:00:07 ",
        "Aug  2 03:00:07 ",
    ],
)
def test_the_time_that_a_wrapper_writes_in_front_stays(time: str, tmp_path: Path) -> None:
    found = opened(tmp_path, "".join(f"{time}{line}\n" for line in STACK.removesuffix("\n").split("\n")))
    assert [*found] == ["compose.log!redis-1", "compose.log!trainer-1", "compose.log"]
    lines, numbers = read(found["compose.log!trainer-1"])
    assert numbers == [3, 5, 6, 7] and lines[0] == f"{time}Traceback (most recent call last):"
    assert lines[2] == f"{time}RuntimeError: no data" and lines[3].startswith(time)


def test_a_container_may_have_a_name_without_a_number(tmp_path: Path) -> None:
    named = STACK.replace("redis-1    |", "shop_redis    |").replace("redis-1", "shop_redis").replace("trainer-1", "shop_trainer")
    assert [*opened(tmp_path, named)] == ["compose.log!shop_redis", "compose.log!shop_trainer", "compose.log"]
    one = "".join(f"shop-backend  | line {i}\n" for i in range(9))
    assert read(opened(tmp_path, one)["compose.log"])[0][0] == "line 0"


def test_one_service_a_table_and_an_unlabelled_log_stay_whole(tmp_path: Path) -> None:
    alone = "".join(line for line in STACK.splitlines(keepends=True) if "redis" not in line)
    assert [*opened(tmp_path, alone)] == ["compose.log"]
    assert [*opened(tmp_path, "name-1     | value\n" + "plain text\n" * 20 + "name-2     | other\nname-3     | x\n")] == [
        "compose.log"
    ]
    assert [*opened(tmp_path, "loss 0.4 | lr 0.1\nloss 0.3 | lr 0.1\nloss 0.2 | lr 0.1\n")] == ["compose.log"]


def test_a_stream_that_is_read_once_stays_whole() -> None:
    long = STACK * (KEPT_BYTES // len(STACK) + 2)
    (source,) = stream_sources(io.BytesIO(long.encode()), "<stdin>", lambda _w: None)
    assert source.name == "<stdin>"
    assert len(stream_sources(io.BytesIO(STACK.encode()), "<stdin>", lambda _w: None)) == 3


def test_what_compose_builds_before_it_attaches_is_left_with_compose(tmp_path: Path) -> None:
    built = "Building trainer\n" + "".join(f"Step {n}/900 : RUN make part-{n}\n" for n in range(1, 900))
    found = opened(tmp_path, built + STACK)
    assert [*found] == ["compose.log!redis-1", "compose.log!trainer-1", "compose.log"]
    assert read(found["compose.log!trainer-1"])[1] == [903, 905, 906, 907]
    assert len(read(found["compose.log"])[0]) == 901


def test_a_container_that_exited_is_named_with_its_project(tmp_path: Path) -> None:
    named = (
        STACK.replace("redis-1 ", "redis_1 ")
        .replace("trainer-1 ", "trainer_1 ")
        .replace("trainer_1 exited", "shop_trainer_1 exited")
    )
    found = opened(tmp_path, named)
    assert [*found] == ["compose.log!redis_1", "compose.log!trainer_1", "compose.log"]
    assert read(found["compose.log!trainer_1"])[0][-1].endswith("shop_trainer_1 exited with code 3")
