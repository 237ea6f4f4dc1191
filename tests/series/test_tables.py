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


def picture(minute: int, used: list[int]) -> str:
    """nvidia-smi's picture of driver 550, one GPU after the other."""
    gpus = "".join(
        f"|   {g}  NVIDIA L40S                    On  |   00000000:4A:00.0 Off |                    0 |\n"
        f"| N/A   53C    P0            305W /  350W |   {u}MiB /  46068MiB |     93%      Default |\n"
        "|                                         |                        |                  N/A |\n"
        "+-----------------------------------------+------------------------+----------------------+\n"
        for g, u in enumerate(used)
    )
    return (
        f"Tue Oct 29 19:{minute:02}:23 2024       \n"
        "+-----------------------------------------------------------------------------------------+\n"
        "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
        "|-----------------------------------------+------------------------+----------------------+\n"
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
        "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
        "|=========================================+========================+======================|\n" + gpus
    )


def test_pictures_tell_the_speed_and_when_the_gpu_is_full(told: Callable[[str], list[Observation]]) -> None:
    """Of two GPUs the second grows by 500 MiB a minute from 20000 of 46068 MiB on; the last of 30 readings is of 19:29:23."""
    (event,) = told("".join(picture(m, [11948, 20000 + 500 * m]) for m in range(30)))
    assert (event.cause, event.weight, event.fields["gpu"]) == ("gpu_memory.leak", "strong", 1)
    assert event.fields["hour_bytes"] == 30_000 << 20
    assert event.fields["limit_bytes"] == 46_068 << 20
    assert event.fields["limit_in_s"] == 60 * 23  # 11,568 MiB
    assert event.fields["limit_at"] == "2024-10-29 19:52"


def csv(used: list[int]) -> str:
    """One reading every ten seconds."""
    rows = (f"2026/03/21 10:{t // 6:02}:{t % 6}0.123, 0, {u} MiB, 24576 MiB\n" for t, u in enumerate(used))
    return "timestamp, index, memory.used [MiB], memory.total [MiB]\n" + "".join(rows)


def test_a_watcher_that_began_before_the_program_tells_the_speed_of_the_leak(told: Callable[[str], list[Observation]]) -> None:
    leak = [8000 + 100 * i for i in range(60)]
    (event,) = told(csv([3] * 40 + [500, 4000] + leak))
    assert (event.weight, event.fields["hour_bytes"]) == ("strong", 36_000 << 20)
    assert event.fields["first_bytes"] in (8000 << 20, 8100 << 20)


def test_memory_that_was_given_back_at_the_end_is_a_hint_without_a_forecast(told: Callable[[str], list[Observation]]) -> None:
    leak = [8000 + 100 * i for i in range(60)]
    (event,) = told(csv([3] * 5 + leak + [3] * 10))
    assert (event.weight, event.fields["hour_bytes"]) == ("hint", 36_000 << 20)
    assert not event.fields.keys() & {"limit_in_s", "forecast_bytes"}
    assert told(csv([3] * 5 + [8000] * 60 + [3] * 10)) == []


def test_the_report_of_nvidia_smi_tells_speed_and_size(told: Callable[[str], list[Observation]]) -> None:
    """`nvidia-smi -q -d MEMORY -l 60`."""
    report = (
        "\n==============NVSMI LOG==============\n\nTimestamp                                 : Tue Oct 29 19:{:02}:23 2024\n"
        "Driver Version                            : 535.54.03\nCUDA Version                              : 12.2\n\n"
        "Attached GPUs                             : 1\nGPU 00000000:01:00.0\n    FB Memory Usage\n"
        "        Total                             : 49140 MiB\n        Reserved                          : 569 MiB\n"
        "        Used                              : {} MiB\n        Free                              : {} MiB\n"
        "    BAR1 Memory Usage\n        Total                             : 65536 MiB\n"
        "        Used                              : 1 MiB\n        Free                              : 65535 MiB\n"
    )
    (event,) = told("".join(report.format(m, 1000 + 500 * m, 47_571 - 500 * m) for m in range(30)))
    assert (event.fields["hour_bytes"], event.fields["limit_bytes"]) == (30_000 << 20, 49_140 << 20)


def test_power_alone_is_a_series(series_of: OfText) -> None:
    rows = "".join(f"2024/10/30 18:42:{33 + t}.189, 22.{t}9 W\n" for t in range(5))
    assert series_of("timestamp, power.draw [W]\n" + rows)["power draw"].values == [22.09, 22.19, 22.29, 22.39, 22.49]


def test_a_watcher_of_many_hours_is_read_to_its_end(told: Callable[[str], list[Observation]]) -> None:
    """Of so many lines a sample is kept; the last picture stands in it. One GPU is full after 36 hours of 20 MiB a minute."""
    pictures = (picture(0, [2868 + 20 * m]) for m in range(1440))
    days = (f"Tue Oct 29 {m // 60:02}:{m % 60:02}:23 2024" for m in range(1440))
    text = "".join(p.replace("Tue Oct 29 19:00:23 2024", d, 1) for p, d in zip(pictures, days, strict=True))
    (event,) = told(text)
    assert (event.weight, event.fields["last_bytes"], event.fields["span_s"]) == ("strong", (2868 + 20 * 1439) << 20, 24 * 3600)
    assert event.fields["hour_bytes"] == 1200 << 20
    assert event.fields["limit_at"] == "2024-10-30 12:00"
