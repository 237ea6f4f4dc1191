"""Tables of free, nvidia-smi, vmstat and dmon, made here in their forms."""

from collections.abc import Callable

import pytest

from forensics.model import Observation
from forensics.series import Series

GIB = 1 << 30
OfText = Callable[[str], dict[str, Series]]
HEAD = "              total        used        free      shared  buff/cache   available\n"
OLD = "             total       used       free     shared    buffers     cached\n"


def free(used: list[int], cache: list[int], total: int = 64000000) -> str:
    rows = (
        f"{HEAD}Mem:       {total}     {u}    {total - u - c}       95508     {c}    {total - u}\nSwap:             0           0           0\n"
        for u, c in zip(used, cache, strict=True)
    )
    return "".join(rows)


def test_free_is_read_in_kib(series_of: OfText) -> None:
    found = series_of(free([5000000, 6000000], [1000, 2000]))
    assert found["memory used"].values == [5000000 * 1024, 6000000 * 1024]
    assert found["memory available"].values == [59000000 * 1024, 58000000 * 1024]


def test_old_free_counts_caches_as_used(series_of: OfText) -> None:
    found = series_of(f"{OLD}Mem:      64000000   50000000   14000000     100       2000000   40000000\n")
    assert found["memory used"].values == [8000000 * 1024]


def test_free_is_read_in_units_for_people(series_of: OfText) -> None:
    found = series_of(f"{HEAD}Mem:           62Gi       5.0Gi        55Gi       1.0Mi       1.0Gi        56Gi\n")
    assert found["memory used"].values == [5 * GIB]


def test_growing_use_is_told_and_a_growing_cache_is_not(told: Callable[[str], list[Observation]]) -> None:
    grown = told(free([5_000_000 + 2_000_000 * i for i in range(6)], [1000] * 6))
    assert {e.cause for e in grown} == {"host_memory.leak"}
    assert {e.weight for e in grown} == {"hint"}
    assert told(free([5_000_000] * 6, [1_000_000 * i for i in range(6)])) == []


def test_the_table_of_nvidia_smi_becomes_series(series_of: OfText) -> None:
    gpu = (
        "|   {}  Tesla V100-SXM2...  On   | 00000000:06:00.0 Off |                    0 |\n"
        "| N/A   {}C    P0    60W / 300W |  {}MiB / 16160MiB |     98%      Default |\n"
    )
    text = "".join(gpu.format(g, 40 + t, 1000 * (g + 1) + t) for t in range(3) for g in range(2))
    found = series_of(text)
    assert found["GPU memory used gpu 0"].values == [1000 * 2**20, 1001 * 2**20, 1002 * 2**20]
    assert found["temperature gpu 1"].values == [40, 41, 42]


def test_csv_of_nvidia_smi_becomes_series(series_of: OfText) -> None:
    rows = "".join(f"2024/01/01 10:00:{t:02}.000, {g}, {100 * t + g} MiB, {60 + t}\n" for t in range(5) for g in range(2))
    found = series_of("timestamp, index, memory.used [MiB], temperature.gpu\n" + rows)
    assert found["GPU memory used gpu 1"].values == [(100 * t + 1) * 2**20 for t in range(5)]
    assert found["temperature gpu 0"].values == [60, 61, 62, 63, 64]


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        (
            "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n# Idx     W     C     C     %     %     %     %   MHz   MHz\n"
            "    0    43    35     -     0     0     0     0  2505  1075\n    0    50    45     -     0     0     0     0  2505   900\n",
            "SM clock gpu 0",
            [1075, 900],
        ),
        (
            " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
            " 1  0   1024 812344  20488 901232    0    0     5    12   60   90  2  1 97  0  0\n"
            " 1  0   2048 802344  20488 901232    0    0     5    12   60   90  2  1 97  0  0\n",
            "swap used",
            [1024 * 1024, 2048 * 1024],
        ),
        (
            "# gpu         pid   type     fb   ccpm    command\n# Idx           #    C/G     MB     MB    name\n"
            "    0       1604     G    157      0    Xorg\n    0       4712   C+G  10120      0    python\n\n"
            "    0       1604     G    157      0    Xorg\n    0       4712   C+G  10220      0    python\n    1          -     -      -      -    -\n",
            "GPU memory used gpu 0, pid 4712",
            [10120 << 20, 10220 << 20],
        ),
        (
            "timestamp, pid, process_name, used_gpu_memory [MiB]\n2026/03/21 10:00:00.1, 4712, python, 400 MiB\n"
            "2026/03/21 10:00:00.1, 4713, python, 90 MiB\n2026/03/21 10:00:05.1, 4712, python, 500 MiB\n",
            "GPU memory used pid 4712",
            [400 << 20, 500 << 20],
        ),
    ],
)
def test_columns_become_series_by_their_heads(text: str, name: str, values: list[float], series_of: OfText) -> None:
    assert series_of(text)[name].values == values


@pytest.mark.parametrize("gap", ["", "\n"])
def test_dmon_with_dates_tells_the_speed(gap: str, told: Callable[[str], list[Observation]]) -> None:
    """The columns as `nvidia-smi dmon -s m -o DT` prints them; an empty line now and then is no end of the table."""
    rows = "".join(f" 20260321   10:0{t // 6}:{10 * t % 60:02}      0  {4000 + 100 * t}      5      0\n{gap}" for t in range(30))
    head = "#Date       Time        gpu     fb   bar1   ccpm\n#YYYYMMDD   HH:MM:SS    Idx     MB     MB     MB\n"
    (event,) = told(head + rows)
    assert (event.cause, event.fields["span_s"], event.fields["hour_bytes"]) == ("gpu_memory.leak", 290, 36_000 << 20)


def test_a_long_csv_is_read_throughout_where_memory_is_its_last_column(series_of: OfText) -> None:
    rows = "".join(f"2026/03/21 1{i // 600}:{i // 10 % 60:02}:{i % 10 * 6:02}.123, {4000 + i} MiB\n" for i in range(1500))
    found = series_of("timestamp, memory.used [MiB]\n" + rows)["GPU memory used"]
    assert len(found.values) == 1500
