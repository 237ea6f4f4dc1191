"""What other tools and loops print, made here in their forms, to series in plain units: memory in bytes, times in seconds."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics import series
from forensics.database import Database
from forensics.model import Scan
from forensics.series import Series

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
OfText = Callable[[str], dict[str, Series]]


def again(form: str, count: int = 3) -> str:
    """`form` written `count` times: `{i}` counts from 0, and numbers that move with it from 10."""
    return "".join(form.replace("{i}", str(i)).replace("{n}", str(10 + i)) for i in range(count))


TOP = """top - 10:00:0{i} up 12 days,  1:02,  1 user,  load average: 1.00, 1.00, 1.00
MiB Mem :  64215.9 total,   {n}00.0 free,  500{n}.5 used,  13000.0 buff/cache
MiB Swap:   2048.0 total,   2048.0 free,      0.0 used.  90{n}.0 avail Mem

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   4711 root      20   0   30.2g   {n}g 123456 R 100.0   8.5   1:00.00 python train.py
   4712 root      20   0  300200   10{n}  12345 S   1.0   0.0   1:00.00 bash

"""
KERNEL = """[ 1{n}.1] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[ 1{n}.1] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[ 1{n}.2] [    812]     0   812     7000      500    81920        0             0 systemd-journal
[ 1{n}.2] [   4711]  1000  4711  9000000  {n}00000 16000000        0             0 python
[ 1{n}.4] Out of memory: Killed process 50{n} (worker) total-vm:912kB, anon-rss:5000kB, file-rss:0kB, shmem-rss:0kB, UID:0
"""
QUERY = """timestamp, index, temperature.gpu, memory.used [MiB], power.draw [W], clocks.current.sm [MHz], clocks_throttle_reasons.active
""" + again("2024/01/01 10:00:0{i}.000, 0, 8{i}, 790{n} MiB, 390.5 W, 14{n} MHz, 0x0000000000000024\n")
DMON = """#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk     fb   bar1
#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz     MB     MB
""" + again(" 20240101   10:00:0{i}      1     55     {n}     41      0      0   1593    3{n}     40{n}      1\n")
YOLO = """
      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
        {i}/3      1.{n}G      1.1{n}      2.871        nan        212        640:  50%|#####     | 4/8 [00:02<00:02,  1.5it/s]\r\
        {i}/3      1.{n}G      1.2{n}      2.871        nan        212        640: 100%|##########| 8/8 [00:05<00:00,  1.5it/s]
                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|##########| 4/4 [00:01<00:00,  2.5it/s]
"""
PROFILED = """
Line #    Mem usage    Increment  Occurrences   Line Contents
=============================================================
     7    1{n}.5 MiB    1{n}.5 MiB           1   @profile
     8                                         def step():
     9    2{n}.2 MiB      0.7 MiB           1       x = [1] * 100000
"""
SAR = "12:00:01 AM kbmemfree   kbavail kbmemused  %memused kbbuffers\n" + again(
    "12:0{i}:01 AM   1234567   23456{n}   3456789     45.60     12345\n"
)
VMSTAT = " r  b   swpd   free   buff  cache   si   so\n" + again(" 1  0   10{n}   1000     200   30{n}    0    0\n")
DEEPSPEED = "[2023-04-01 10:00:00,123] [INFO] [{}] "

FORMS: dict[str, tuple[str, dict[str, list[float]]]] = {
    "top": (
        again(TOP),
        {
            "memory used": [(50010.5 + i) * MIB for i in range(3)],
            "memory available": [(9010 + i) * MIB for i in range(3)],
            "resident memory pid 4711": [(10 + i) * GIB for i in range(3)],
        },
    ),
    "ps with stamps of ts": (
        again("Nov 21 11:1{i}:03     PID    RSS COMMAND\nNov 21 11:1{i}:03    4711  10{n} python train.py\n"),
        {"resident memory pid 4711": [(1010 + i) * KIB for i in range(3)]},
    ),
    "ps aux": (
        again("USER    PID %CPU %MEM    VSZ   RSS TTY   STAT START   TIME COMMAND\nroot   4711  0.0  0.0   4624 10{n} ?   Ss   10:00   0:00 sh\n"),
        {"resident memory pid 4711": [(1010 + i) * KIB for i in range(3)]},
    ),
    "the kernel's tables": (again(KERNEL), {"resident memory pid 4711": [(10 + i) * 100000 * 4096 for i in range(3)]}),
    "vmstat": (VMSTAT, {"swap used": [(1010 + i) * KIB for i in range(3)], "memory available": [(4210 + i) * KIB for i in range(3)]}),
    "sar -r": (SAR, {"memory available": [(2345610 + i) * KIB for i in range(3)]}),
    "nvidia-smi --query-gpu": (
        QUERY,
        {
            "GPU memory used gpu 0": [(79010 + i) * MIB for i in range(3)],
            "temperature gpu 0": [80, 81, 82],
            "power draw gpu 0": [390.5] * 3,
            "SM clock gpu 0": [1410, 1411, 1412],
            "sw power cap gpu 0": [1, 1, 1],
            "sw thermal slowdown gpu 0": [1, 1, 1],
            "hw slowdown gpu 0": [0, 0, 0],
        },
    ),
    "nvidia-smi --query-gpu, nounits": (
        "index, memory.used [MiB], clocks_event_reasons.hw_thermal_slowdown\n" + again("1, 790{n}, Not Active\n"),
        {"GPU memory used gpu 1": [(79010 + i) * MIB for i in range(3)], "hw thermal slowdown gpu 1": [0, 0, 0]},
    ),
    "nvidia-smi dmon -o DT": (
        DMON,
        {
            "temperature gpu 1": [10, 11, 12],
            "SM clock gpu 1": [310, 311, 312],
            "GPU memory used gpu 1": [(4010 + i) * MIB for i in range(3)],
        },
    ),
    "YOLO": (again(YOLO), {"GPU_mem": [1.10 * GIB, 1.11 * GIB, 1.12 * GIB], "box loss": [1.210, 1.211, 1.212], "cls loss": [2.871] * 3}),
    "YOLOv5": (
        again("\n  Epoch   gpu_mem       box       obj       cls    labels  img_size\n  {i}/9     3.{n}G    0.115  0.066   0.029  123   640: 100%\n"),
        {"GPU_mem": [3.10 * GIB, 3.11 * GIB, 3.12 * GIB], "obj loss": [0.066] * 3},
    ),
    "mprof": ("CMDLINE python train.py\n" + again("MEM 1{n}.500000 170000000{i}.5000\n"), {"resident memory": [(110.5 + i) * MIB for i in range(3)]}),
    "memory_profiler": (again(PROFILED), {"memory at entry of line 7": [(110.5 + i) * MIB for i in range(3)]}),
    "control group, version 2": (
        again("/sys/fs/cgroup/memory.current:123{n}\nmemory.max 200000\n"),
        {"cgroup memory": [12310, 12311, 12312], "cgroup limit": [200000] * 3},
    ),
    "control group, version 1": (
        again("memory.usage_in_bytes: 123{n}\nmemory.limit_in_bytes: 9223372036854771712\n"),
        {"cgroup memory": [12310, 12311, 12312]},
    ),
    "control group, head": (again("==> /sys/fs/cgroup/memory.current <==\n123{n}\n\n"), {"cgroup memory": [12310, 12311, 12312]}),
    "control groups": (
        again("/sys/fs/cgroup/a.slice/memory.current:123{n}\n/sys/fs/cgroup/b.slice/memory.current:99\n"),
        {"cgroup memory a.slice": [12310, 12311, 12312], "cgroup memory b.slice": [99] * 3},
    ),
    "control groups by name": (
        again("cgroup=/pods/a memory.current: 123{n}\ncgroup=/pods/b memory.current: 99\n"),
        {"cgroup memory pods/a": [12310, 12311, 12312], "cgroup memory pods/b": [99] * 3},
    ),
    "processes in brackets": (
        again("[python:4711] rss: 1{n} MB\n[python:4712] rss: 96 MB\n"),
        {"rss pid 4711": [(110 + i) * MIB for i in range(3)], "rss pid 4712": [96 * MIB] * 3},
    ),
    "a counter in brackets": (again("[epoch:1{n}] loss: 0.{n}\n"), {"loss": [0.10, 0.11, 0.12]}),
    "memory.events": (
        again("==> memory.events <==\nlow 0\nhigh 0\nmax 1{n}\noom 1\noom_kill {i}\n"),
        {"cgroup max events": [110, 111, 112], "cgroup oom_kill events": [0, 1, 2]},
    ),
    "memory.events in a line": (again("memory.events: low 0 high 0 max 1{n} oom 1 oom_kill {i}\n"), {"cgroup oom_kill events": [0, 1, 2]}),
    "Keras 3": (
        again("\x1b[1m100/100\x1b[0m \x1b[32m━━━━\x1b[0m \x1b[1m1s\x1b[0m 2ms/step - accuracy: 0.5 - loss: 0.{n} - val_loss: 0.4\n"),
        {"loss": [0.10, 0.11, 0.12], "held-out val loss": [0.4] * 3, "bar's time per step": [0.002] * 3},
    ),
    "TensorFlow's memory": (again("{'current': 123{n}, 'peak': 223456789}\n"), {"peak": [223456789] * 3}),
    "TensorFlow's estimator": (again("INFO:tensorflow:global_step/sec: 1{n}.5\n"), {"tensorflow global step sec": [110.5, 111.5, 112.5]}),
    "JAX, MaxText": (
        again("completed step: {n}, seconds: 5.123, TFLOP/s/device: 100.5, Tokens/s/device: 12{n}.5, total_weights: 65536, loss: 10.2\n"),
        {"loss": [10.2] * 3, "tokens s device": [1210.5, 1211.5, 1212.5]},
    ),
    "a rate by name behind a loss": (
        again("step {i} loss 2.{n} tokens/s 41{n}0 mem 52.3 GiB\n"),
        {"loss": [2.10, 2.11, 2.12], "tokens s": [41100, 41110, 41120], "mem": [56156697395.2] * 3},
    ),
    "a rate behind its number": (
        again("throughput 2{n} samples/s 3 GPUs\nloss 0.{n} samples/s: 2{n}\n"),
        {"samples/s": [210, 211, 212], "loss": [0.10, 0.11, 0.12], "samples s": [210, 211, 212]},
    ),
    "fairseq, json": (
        again('2023-06-20 15:26:27 | INFO | train_inner | {"epoch": 1, "update": 0.1, "loss": "9.{n}", "ups": "2.5", "num_updates": "1{n}"}\n'),
        {"loss": [9.10, 9.11, 9.12], "ups": [2.5] * 3},
    ),
    "DeepSpeed, overflow": (
        again(DEEPSPEED.format("loss_scaler.py:188:update_scale") + "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 327{n}\n"),
        {"loss scale rank 0": [32710, 32711, 32712]},
    ),
    "DeepSpeed, fused": (
        again(DEEPSPEED.format("fused_optimizer.py:400") + "Reducing dynamic loss scale from 65536.0 to 327{n}.0\n"),
        {"loss scale": [32710, 32711, 32712]},
    ),
    "DeepSpeed, host": (
        again(DEEPSPEED.format("utils.py:794:see_memory_usage") + "CPU Virtual Memory:  used = 50.5 GB, percent = 5.0%\n"),
        {"memory usage cpu virtual memory used": [50.5 * GIB] * 3},
    ),
    "DeepSpeed, engine": (
        again("steps: 1{n} loss: 2.5 iter time (s): 0.51 samples/sec: 31.2\n"),
        {"loss": [2.5] * 3, "time per step": [0.51] * 3, "samples sec": [31.2] * 3},
    ),
    "Lightning": (
        again("Epoch 0:  52%|#####     | {n}/60 [00:06<00:05,  5.00it/s, v_num=0, train_loss=0.123]\n"),
        {"train loss": [0.123] * 3, "bar's time per step": [0.2] * 3},
    ),
    "torchtitan": (
        again("[rank0]:2024-10-01 10:00:00,000 - root - INFO - step: {n}  loss:  8.12  memory: 30.5GiB(38.02%)  tps: 1,234  tflops: 123.45\n"),
        {"loss rank 0": [8.12] * 3, "memory rank 0": [30.5 * GIB] * 3},
    ),
    "mmengine": (
        again("2023/01/01 10:00:00 - mmengine - INFO - Epoch(train)  [1][ {n}/1749]  lr: 1.0e-04  time: 1.8  data_time: 0.047  memory: 5280  loss: 593.0\n"),
        {"loss": [593.0] * 3, "memory": [5280 * MIB] * 3, "data time": [0.047] * 3},
    ),
    "detectron2": (
        again("[03/04 12:00:01 d2.utils.events]:  iter: {n}  total_loss: 1.2  time: 0.45  last_time: 0.9  data_time: 0.01  last_data_time: 0.5  lr: 1e-05\n"),
        {"time per step": [0.45] * 3, "data time": [0.01] * 3},
    ),
}  # fmt: skip


@pytest.mark.seconds
@pytest.mark.parametrize("form", FORMS)
def test_the_numbers_of_each_tool_are_read(form: str, series_of: OfText) -> None:
    text, wanted = FORMS[form]
    found = series_of(text)
    assert {n: found[n].values if n in found else None for n in wanted} == {n: pytest.approx(v) for n, v in wanted.items()}


def test_what_is_counted_in_memory_is_no_memory(series_of: OfText) -> None:
    assert series_of(again("caching the data set in memory: 7{n}/812 files\n")) == {}
    assert [*series_of(again("memory: 7{n}/812 MB\n"))] == ["memory"]


def test_what_lies_on_a_gpu_and_what_only_rises(series_of: OfText) -> None:
    told = {form: series_of(FORMS[form][0]) for form in ("torchtitan", "YOLO", "top", "TensorFlow's memory")}
    sides = [(s.gpu, s.sense) for s in (told["torchtitan"]["memory rank 0"], told["YOLO"]["GPU_mem"])]
    assert sides == [(True, "peak"), (True, "peak")]
    assert (told["top"]["memory available"].gpu, told["top"]["memory available"].sense) == (False, "free")
    assert told["TensorFlow's memory"]["peak"].gpu


def test_steps_and_epochs_go_with_the_numbers(series_of: OfText) -> None:
    assert [r.step for r in series_of(FORMS["YOLO"][0])["GPU_mem"].readings] == [0, 1, 2]
    assert [r.step for r in series_of(FORMS["fairseq, json"][0])["loss"].readings] == [110, 111, 112]


def test_small_processes_say_nothing(series_of: OfText) -> None:
    found = {*series_of(again(TOP)), *series_of(again(KERNEL))}
    assert not {name for name in found if "4712" in name or "812" in name}


def test_tables_are_read_in_their_own_way_alone(series_of: OfText) -> None:
    assert set(series_of(again(TOP))) == {"memory used", "memory available", "resident memory pid 4711"}
    assert set(series_of(SAR)) == {"memory available", "memory used and cached"}


def test_rows_far_below_their_header_are_read_at_the_end(series_of: OfText) -> None:
    text = " r  b   swpd   free   buff  cache   si   so\n" + "".join(
        f" 1  0  {i}   1000     200   3000    0    0\n" for i in range(500)
    )
    values = series_of(text)["swap used"].values
    assert (values[0], values[-1]) == (0, 499 * KIB)
    assert len(values) == 160


HEADS = [text for form, _ in FORMS.values() for text in form.splitlines()]
CELLS = st.lists(st.text("0123456789.,:²٣kmgGMiB%/|[]-+ abeNx", max_size=9), max_size=14).map(" ".join)


@pytest.mark.seconds
@given(st.lists(st.sampled_from(HEADS) | CELLS, max_size=12))
def test_damaged_tables_break_nothing(scanned: Callable[[str], Scan], knowledge: Database, lines: list[str]) -> None:
    found = series.series_of(scanned("\n".join(lines) + "\n"))
    assert all(isinstance(r.value, float) for s in found for r in s.readings)
    series.read(scanned("\n".join(lines) + "\n"), knowledge)
