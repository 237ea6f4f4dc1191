"""The rank of a captured run that ended first, by the account of its ends."""

import pytest

from forensics.readers.capture import first_end
from tests.readers.regions import regions

LINE = "[2026-08-22T03:00:{}+00:00] forensics run: pid {} (python), {}, {} after 10.6 s; it held 257.5 MiB"
END = "[2026-08-22T03:00:12.000000+00:00] forensics run: the command, pid 8225 (python), ended with exit status 1 after 27.3 s"
BAD = "ended with exit status 1"


def ended(*rows: tuple[str, int, str, str]) -> dict[str, object] | None:
    text = "\n".join([*(LINE.format(*row) for row in rows), END])
    (region,) = regions(text, first_end.TRIGGER)
    found = first_end.read(region)
    return found and found.fields


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        (
            [("07.878617", 8254, "child 1 of pid 8225", "ended with exit status 3"), ("08.3", 8251, "child 0 of pid 8225", BAD)],
            {"pid": 8254, "child_no": 1, "exit_code": 3},
        ),
        ([("08.3", 9, "rank 5", BAD), ("07.8", 8, "rank 4", "ended with exit status 7")], {"pid": 8, "rank": 4, "exit_code": 7}),
        ([("07.878617", 8254, "child 1 of pid 8225", BAD), ("07.9", 8251, "child 0 of pid 8225", BAD)], None),  # at one time
        ([("07.8", 8, "rank 1", "ended with exit status 0"), ("09.3", 9, "rank 0", BAD)], {"pid": 8, "rank": 1, "exit_code": 0}),
        ([("07.878617", 8254, "child 1 of pid 8225", BAD)], None),  # nobody was left
        ([("07.8", 8, "rank 4", "was ended by signal 15 (SIGTERM)"), ("08.3", 9, "rank 5", BAD)], None),  # by a launcher
        (  # a loader of rank 5 is no rank
            [("07.8", 10, "child 0 of pid 9", BAD), ("08.1", 8, "rank 4", BAD), ("08.3", 9, "rank 5", BAD)],
            {"pid": 8, "rank": 4, "exit_code": 1},
        ),
    ],
)
def test_which_rank_ended_first(rows: list[tuple[str, int, str, str]], fields: dict[str, object] | None) -> None:
    assert ended(*((at.ljust(9, "0"), *rest) for at, *rest in rows)) == fields  # type: ignore[misc]
