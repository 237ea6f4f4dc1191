"""A line of every kind that is met in the field: what it tells and the message that is left.

The lines are made here after the forms that the tools print; none is a captured log.
"""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from forensics.core.text import last_frame
from forensics.line_formats import parse_prefix

OOM = "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0"
KILLED = "Out of memory: Killed process 4242 (python3)"
AUG = datetime(2025, 8, 22, 3, 0, 7, tzinfo=UTC)
NO_YEAR = datetime(1904, 8, 22, 3, 0, 7)
FEB = datetime(2009, 2, 13, 23, 31, 30)
IST = timezone(timedelta(hours=5, minutes=30))


def at(*parts: int, zone: timezone | None = None) -> datetime:
    return datetime(*parts, tzinfo=zone)  # type: ignore[arg-type,misc]


FORMATS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("dmesg plain", f"[11686.888109] {OOM}", OOM, {"mono": 11686.888109, "wall": None}),
    (
        "dmesg with caller",
        "[  516.671899][    C1] watchdog: BUG: soft lockup",
        "watchdog: BUG: soft lockup",
        {"mono": 516.671899},
    ),
    ("stamped exception", "2025-08-22T03:00:07Z ValueError: bad", "ValueError: bad", {"wall": AUG, "program": None}),
    ("stamped CUDA error", "2025-08-22T03:00:07Z CUDA error: bad", "CUDA error: bad", {"wall": AUG, "program": None}),
    ("stamped kernel", f"2025-08-22T03:00:07Z kernel: {KILLED}", KILLED, {"wall": AUG, "program": "kernel"}),
    ("relayed by Airflow", "[2025-08-22T03:00:07Z] {subprocess.py:93} INFO - Killed", "Killed", {"wall": AUG, "level": None}),
    ("dmesg, caller, new", "[    0.000000] [T1] Linux version 6.6.4", "Linux version 6.6.4", {"mono": 0.0}),
    ("dmesg, caller, wide", "[ 5301.000001] [ T5301] x", "x", {"mono": 5301.000001}),
    ("dmesg -T", "[Fri Feb 13 23:31:30 2009] example[0]", "example[0]", {"wall": FEB}),
    ("dmesg -T, German", f"[Di Aug 12 03:54:03 2025] {OOM}", OOM, {"wall": at(2025, 8, 12, 3, 54, 3)}),
    ("dmesg -T, French", f"[mar. janv. 17 02:59:56 2023] {OOM}", OOM, {"wall": at(2023, 1, 17, 2, 59, 56)}),
    ("dmesg -T, Russian", f"[Пт июл 25 11:20:31 2025] {OOM}", OOM, {"wall": at(2025, 7, 25, 11, 20, 31)}),
    ("dmesg -T, Polish", f"[śro paź 15 11:20:31 2025] {OOM}", OOM, {"wall": at(2025, 10, 15, 11, 20, 31)}),
    ("dmesg -T, Chinese", f"[五 11月 19 10:33:00 2021] {OOM}", OOM, {"wall": at(2021, 11, 19, 10, 33)}),
    ("dmesg -x", "kern  :warn  : [   64.000000] example[4]", "example[4]", {"mono": 64.0, "level": "warn"}),
    (
        "dmesg -x, iso",
        "kern  :warn  : 2025-01-21T04:41:44,285060+00:00 VFS: file-max limit reached",
        "VFS: file-max limit reached",
        {"wall": at(2025, 1, 21, 4, 41, 44, 285060, zone=UTC), "level": "warn"},
    ),
    (
        "dmesg iso",
        "2009-02-13T23:31:30,123456+00:00 example[0]",
        "example[0]",
        {"wall": at(2009, 2, 13, 23, 31, 30, 123456, zone=UTC)},
    ),
    ("dmesg -r", "<4>[   64.000000] example[4]", "example[4]", {"mono": 64.0, "level": "warn"}),
    ("dmesg -r without time", "<6>text", "text", {"level": "info"}),
    ("dmesg -d", "[    1.000000 <    0.000000>] example[1]", "example[1]", {"mono": 1.0}),
    (
        "dmesg -e",
        "[Feb13 23:31] example[0]",
        "example[0]",
        {"wall": at(1904, 2, 13, 23, 31), "lacks": "year", "resolution_s": 60},
    ),
    ("dmesg -e, step", "[  +7.000000] example[2]", "example[2]", {"delta": 7.0, "wall": None}),
    ("dmesg -H, step", "[ +0.0003] x", "x", {"delta": 0.0003}),
    ("dmesg -t", "example[0]", "example[0]", {}),
    (
        "dmesg, several formats",
        "[    0.000000] [Fri Feb 13 23:31:30 2009] 2009-02-13T23:31:30,123456+00:00 example[0]",
        "example[0]",
        {"wall": at(2009, 2, 13, 23, 31, 30, 123456, zone=UTC), "mono": 0.0},
    ),
    (
        "dmesg colour",
        "kern  :crit  : \x1b[32m[    8.000000] \x1b[0m\x1b[1m\x1b[31mexample[2]\x1b[0m",
        "example[2]",
        {"mono": 8.0, "level": "crit"},
    ),
    ("dmesg continuation", "               line", "               line", {}),
    ("pstore", "<6>[   13.826897] RAPL PMU: API unit is 2^-32 Joules", "RAPL PMU: API unit is 2^-32 Joules", {"mono": 13.826897}),
    (
        "vmcore-dmesg",
        "[  772.918915] BUG: unable to handle kernel paging request",
        "BUG: unable to handle kernel paging request",
        {},
    ),
    ("serial console", "debian login: [  123.456789] Kernel panic\r", "Kernel panic", {"mono": 123.456789}),
    (
        "serial console, two stamps",
        "[2025-08-22 03:00:07] [  123.456789] Kernel panic",
        "Kernel panic",
        {"mono": 123.456789, "wall": at(2025, 8, 22, 3, 0, 7)},
    ),
    (
        "kern.log",
        f"Aug 22 03:00:07 gpu-node-7 kernel: [11686.888109] {KILLED}",
        KILLED,
        {"wall": NO_YEAR, "lacks": "year", "mono": 11686.888109, "host": "gpu-node-7", "program": "kernel"},
    ),
    ("kern.log without a blank", f"Aug 22 03:00:07 gpu-node-7 kernel:{OOM}", OOM, {"program": "kernel"}),
    (
        "kern.log with priority",
        "<6>2024-04-17T00:26:33.540821+05:30 host-name kernel: [   29.751657] i40e 0000:5d:00.0 eth5: x",
        "i40e 0000:5d:00.0 eth5: x",
        {"wall": at(2024, 4, 17, 0, 26, 33, 540821, zone=IST), "mono": 29.751657, "level": "info"},
    ),
    ("journal short", f"Aug 22 03:00:07 gpu-node-7 kernel: {OOM}", OOM, {"wall": NO_YEAR}),
    (
        "journal short-full",
        "Fri 2025-08-22 03:00:07 UTC gpu-node-7 systemd[1]: jupyter.service: Failed",
        "jupyter.service: Failed",
        {"wall": AUG, "pid": 1, "host": "gpu-node-7"},
    ),
    (
        "journal short-full, zone of several places",
        "Fri 2025-08-22 03:00:07 CST gpu-node-7 kernel: x",
        "x",
        {"wall": at(2025, 8, 22, 3, 0, 7), "zone": "CST"},
    ),
    ("journal with-unit", "Fri 2025-08-22 03:00:07 UTC gpu-node-7 init.scope[1]: x", "x", {"program": "init.scope", "wall": AUG}),
    ("journal short-precise", f"Aug 22 03:00:07.123456 gpu-node-7 kernel: {OOM}", OOM, {"resolution_s": pytest.approx(1e-6)}),
    ("journal short-iso", f"2025-08-22T03:00:07+0000 gpu-node-7 kernel: {OOM}", OOM, {"wall": AUG}),
    ("journal short-iso-precise", f"2025-08-22T03:00:07.123456+0000 gpu-node-7 kernel: {OOM}", OOM, {"host": "gpu-node-7"}),
    ("journal short-monotonic", f"[11686.888104] gpu-node-7 kernel: {OOM}", OOM, {"mono": 11686.888104, "host": "gpu-node-7"}),
    (
        "journal short-delta",
        f"[11687.138109 <    0.250005 >] gpu-node-7 kernel: {KILLED}",
        KILLED,
        {"mono": 11687.138109, "program": "kernel"},
    ),
    (
        "journal short-delta, over a boot",
        "[    0.001000 <   86.500000*>] n7 kernel: Linux version",
        "Linux version",
        {"mono": 0.001},
    ),
    ("journal short-unix", f"1755831607.123456 gpu-node-7 kernel: {OOM}", OOM, {"wall": AUG.replace(microsecond=123456)}),
    ("journal cat", KILLED, KILLED, {}),
    ("syslog on the wire", "<34>Oct 11 22:14:15 mymachine su: 'su root' failed", "'su root' failed", {"level": "crit"}),
    ("syslog file", "Nov  3 09:23:38 veridian automount[7998]: lookup(file)", "lookup(file)", {"pid": 7998}),
    ("syslog, French", "août 19 11:08:37 myserver sshd[12]: text", "text", {"wall": at(1904, 8, 19, 11, 8, 37), "pid": 12}),
    (
        "syslog 5424",
        "<30>1 2021-03-06T04:07:38.265422+00:00 hostname systemd 1 - -  Started Regular.",
        "Started Regular.",
        {"host": "hostname", "program": "systemd", "pid": 1, "level": "info"},
    ),
    (
        "syslog 5424 on TCP",
        '142 <30>1 2021-03-06T04:07:38Z host app - ID [x@1 k="v\\"]"] text',
        "text",
        {"host": "host", "program": "app", "wall": at(2021, 3, 6, 4, 7, 38, zone=UTC)},
    ),
    (
        "rsyslog iso",
        "2020-05-31T00:00:45.698463+00:00 localhost rsyslogd:  message repeated 76 times: [-- MARK --]",
        " message repeated 76 times: [-- MARK --]",
        {"program": "rsyslogd"},
    ),
    (
        "jupyter server",
        "[W 2024-05-13 15:26:30.398 ServerApp] AsyncIOLoopKernelRestarter: restart failed",
        "AsyncIOLoopKernelRestarter: restart failed",
        {"wall": at(2024, 5, 13, 15, 26, 30, 398000), "level": "W"},
    ),
    ("classic notebook", "[I 15:26:30.398 NotebookApp] restarting", "restarting", {"lacks": "date"}),
    (
        "jupyterhub",
        "[W 2024-05-13 15:26:30.398 JupyterHub base:1348] User ada stopped",
        "User ada stopped",
        {"program": "JupyterHub"},
    ),
    ("vs code, newest", "11:09:10.499 [error] Disposing session", "Disposing session", {"lacks": "date", "level": "error"}),
    ("vs code, older", "debug 08:46:31.838: text", "text", {"level": "debug"}),
    ("vs code, old", "Info 14:16:26: text", "text", {"wall": at(1904, 1, 1, 14, 16, 26)}),
    ("vs code, oldest", "Error 2021-11-09 10:56:35: text", "text", {"wall": at(2021, 11, 9, 10, 56, 35)}),
    (
        "colab, pipes",
        "Oct 18, 2019, 7:54:49 AM | INFO | KernelRestarter: restarting kernel",
        "KernelRestarter: restarting kernel",
        {"wall": at(2019, 10, 18, 7, 54, 49), "level": "INFO"},
    ),
    ("colab, tabs", "Mar 3, 2024, 12:05:59\u202fPM\tWARNING\ttext", "text", {"wall": at(2024, 3, 3, 12, 5, 59)}),
    ("colab, midnight", "Mar 3, 2024, 12:05:59 AM\tWARNING\ttext", "text", {"wall": at(2024, 3, 3, 0, 5, 59)}),
    ("logging, basicConfig", "WARNING:root:kernel restarted", "kernel restarted", {"level": "WARNING"}),
    ("logging, common", "2022-10-05 10:30:47,443 ERROR agent.py:217 -- x", "agent.py:217 -- x", {"level": "ERROR"}),
    (
        "logging, dashes",
        "2026-05-01 12:00:00,123 - distributed.nanny.memory - WARNING - Worker",
        "- distributed.nanny.memory - WARNING - Worker",
        {"level": "WARNING", "wall": at(2026, 5, 1, 12, 0, 0, 123000)},
    ),
    (
        "torch bracket",
        "[2023-10-13 17:40:02,544] torch.distributed.elastic.multiprocessing.api: [ERROR] failed",
        "torch.distributed.elastic.multiprocessing.api: [ERROR] failed",
        {"level": "ERROR"},
    ),
    ("deepspeed bracket", "[2023-10-13 17:40:02,544] [INFO] [launch.py:191:f] x", "[launch.py:191:f] x", {"level": "INFO"}),
    ("transformers", "[INFO|trainer.py:1813] 2023-10-13 17:40:02,544 >> *** Running", "*** Running", {"level": "INFO"}),
    ("rich", "[04/18/23 21:09:53] INFO     colossalai", "colossalai", {"wall": at(2023, 4, 18, 21, 9, 53)}),
    ("rich, blank stamp", "                    INFO     colossalai ...", "colossalai ...", {"level": "INFO", "wall": None}),
    ("loguru", "2025-01-01 00:00:00.123 | INFO     | module:fn:12 - text", "module:fn:12 - text", {"level": "INFO"}),
    ("megatron", " [2026-08-22 03:00:07] iteration      100/  500000 |", "iteration      100/  500000 |", {}),
    ("traceback", "Traceback (most recent call last):", "Traceback (most recent call last):", {}),
    (
        "glog",
        "E0517 15:04:22.619632 1952452992 logging_unittest.cc:253] Log",
        "Log",
        {"wall": at(1904, 5, 17, 15, 4, 22, 619632)},
    ),
    ("glog with year", "I20200308 23:47:32.089828 400441 config.cc:27] x", "x", {"wall": at(2020, 3, 8, 23, 47, 32, 89828)}),
    ("klog", "I1010 17:41:57.858757    4991 manager.go:1126] x", "x", {"pid": 4991}),
    ("torchelastic", "W0409 07:28:49.530000 1359 torch/distributed/elastic/agent/server/api.py:719] x", "x", {"level": "W"}),
    ("tensorflow", "2025-06-04 09:59:45.928804: E external/xla/cuda_fft.cc:477] Unable", "Unable", {"level": "E"}),
    (
        "absl before InitializeLog",
        "E0000 00:00:1749031185.951235    9438 cuda_dnn.cc:8310] Unable",
        "Unable",
        {"wall": at(2025, 6, 4, 9, 59, 45, 951235, zone=UTC), "pid": 9438},
    ),
    (
        "c10",
        "[rank0]:[W722 04:20:51.746222605 ProcessGroupNCCL.cpp:1250] Warning",
        "Warning",
        {"rank": 0, "wall": at(1904, 7, 22, 4, 20, 51, 746222)},
    ),
    ("c10, November", "[W1121 04:20:51.7 x.cpp:1] y", "y", {"wall": at(1904, 11, 21, 4, 20, 51, 700000)}),
    ("c10, January", "[W121 04:20:51.7 x.cpp:1] y", "y", {"wall": at(1904, 1, 21, 4, 20, 51, 700000)}),
    ("c10, older", "[E ProcessGroupNCCL.cpp:828] [Rank 1] Watchdog", "Watchdog", {"rank": 1, "level": "E"}),
    (
        "vllm",
        "(VllmWorkerProcess pid=488) INFO 07-22 04:20:44 multiproc_worker_utils.py:247] Worker exiting",
        "Worker exiting",
        {"pid": 488, "wall": at(1904, 7, 22, 4, 20, 44)},
    ),
    ("nccl", "gpu-node-7:4242:4243 [0] NCCL INFO Channel", "NCCL INFO Channel", {"host": "gpu-node-7", "pid": 4242}),
    ("nccl, warning", "gpu-node-7:4242:4251 [3] misc/socket.cc:456 NCCL WARN x", "misc/socket.cc:456 NCCL WARN x", {"pid": 4242}),
    (
        "nccl with time",
        "[2025-08-22 03:00:07] gpu-node-7:4242:4243 [0] NCCL INFO x",
        "NCCL INFO x",
        {"wall": at(2025, 8, 22, 3, 0, 7)},
    ),
    ("torchrun", "[default0]:[rank0]: RuntimeError: x", "RuntimeError: x", {"rank": 0}),
    ("lightning", "[rank: 1] Seed set to 42", "Seed set to 42", {"rank": 1}),
    (
        "tqdm with glued text",
        "57% 4/7 [00:37<00:28,  9.42s/it]ERROR:torch.distributed:failed",
        "failed",
        {"level": "ERROR"},
    ),
    ("tqdm, last frame", "\r  3%|▎ | 30/1000 [00:10<05:23,  3.00it/s]\r  6%|...", "  6%|...", {}),
    ("program in brackets", "(train_fn pid=1328, ip=10.0.0.4) text", "text", {"pid": 1328, "host": "10.0.0.4"}),
    ("ray, colours lost", "[2m[36m(MemoryMonitorActor pid=128)[0m text", "text", {"pid": 128}),
    ("ray c++", "[2025-01-15 18:16:34,677 I 524674 524674] (raylet) main.cc:180: x", "main.cc:180: x", {"pid": 524674}),
    ("dask", "distributed.nanny - WARNING - Worker exceeded", "Worker exceeded", {"level": "WARNING"}),
    (
        "slurmstepd",
        "slurmstepd: error: *** JOB 123 ON node7 CANCELLED AT 2026-08-22T03:00:07 DUE TO TIME LIMIT ***",
        "slurmstepd: error: *** JOB 123 ON node7 CANCELLED AT 2026-08-22T03:00:07 DUE TO TIME LIMIT ***",
        {"wall": at(2026, 8, 22, 3, 0, 7), "host": "node7"},
    ),
    ("slurmctld", "[2026-08-22T03:00:07.123] error: Node node7", "error: Node node7", {"level": "error"}),
    (
        "sacct -P",
        "123|train|OUT_OF_MEMORY|0:125|2026-08-22T03:00:07",
        "123|train|OUT_OF_MEMORY|0:125|2026-08-22T03:00:07",
        {"wall": at(2026, 8, 22, 3, 0, 7)},
    ),
    ("srun -l", "12: text", "text", {"rank": 12}),
    ("mpirun", "[1,0]<stderr>:text", "text", {"rank": 0}),
    ("pdsh", "node07: text", "text", {"host": "node07"}),
    ("open mpi", "[node07:12345] *** Process received signal ***", "*** Process received signal ***", {"pid": 12345}),
    ("cri", "2016-10-06T00:17:09.669794203Z stderr F log content 2", "log content 2", {}),
    (
        "kubectl --timestamps",
        "2026-08-22T03:00:07.123456789Z [W 2026-08-22 03:00:06.120 ServerApp] restart failed",
        "restart failed",
        {"wall": at(2026, 8, 22, 3, 0, 7, 123456, zone=UTC), "level": "W"},
    ),
    ("kubectl --prefix", "[pod/train-0/main] 2026-08-22T03:00:07.123Z text", "text", {"host": "train-0", "program": "main"}),
    ("stern", "train-0 main [W 2026-08-22 03:00:07.120 ServerApp] text", "text", {"host": "train-0"}),
    ("compose", "\x1b[2Kweb-1  | 2024-04-25T05:32:35.584725130Z  * Serving", " * Serving", {"program": "web-1"}),
    (
        "kubectl describe",
        "      Finished:     Fri, 08 Sep 2023 01:12:00 +0530",
        "      Finished:     Fri, 08 Sep 2023 01:12:00 +0530",
        {"wall": at(2023, 9, 8, 1, 12, zone=IST)},
    ),
    (
        "kubectl events",
        "Warning  BackOff  2m (x5 over 10m)  kubelet  Back-off",
        "Warning  BackOff  2m (x5 over 10m)  kubelet  Back-off",
        {"level": "Warning", "wall": None},
    ),
    ("logfmt", 'time="2017-02-01T17:58:34.999999999-08:00" level=error msg="test', "test", {"level": "error"}),
    (
        "github",
        "2024-05-01T12:00:00.1234567Z ##[error]Process completed",
        "##[error]Process completed",
        {"level": "error", "wall": at(2024, 5, 1, 12, 0, 0, 123456, zone=UTC)},
    ),
    (
        "jenkins",
        "[2024-05-01T12:00:00.123Z] + python train.py",
        "+ python train.py",
        {"wall": at(2024, 5, 1, 12, 0, 0, 123000, zone=UTC)},
    ),
    (
        "wandb debug.log",
        "2024-05-01 12:00:00,123 INFO    MainThread:1234 [wandb_init.py:610] x",
        "MainThread:1234 [wandb_init.py:610] x",
        {},
    ),
    ("nvidia-smi", "Fri Aug 22 03:00:07 2026", "", {"wall": at(2026, 8, 22, 3, 0, 7)}),
    ("date", "Sat Nov 21 00:35:34 PST 2026", "", {"wall": at(2026, 11, 21, 0, 35, 34, zone=timezone(timedelta(hours=-8)))}),
    ("epoch s", "1428634687 x", "x", {"wall": at(2015, 4, 10, 2, 58, 7, zone=UTC)}),
    ("epoch ms", "1428634687123 Hello, World!", "Hello, World!", {"wall": at(2015, 4, 10, 2, 58, 7, 123000, zone=UTC)}),
    ("epoch us", "1428634687123456 x", "x", {"wall": at(2015, 4, 10, 2, 58, 7, 123456, zone=UTC)}),
    ("epoch ns", "1428634687123456789 x", "x", {"wall": at(2015, 4, 10, 2, 58, 7, 123456, zone=UTC)}),
    ("grep -n", f"12:Aug 22 03:00:07 node-7 kernel: {OOM}", OOM, {"host": "node-7"}),
    ("grep, file name", f"kern.log:12:Aug 22 03:00:07 node-7 kernel: {OOM}", OOM, {"host": "node-7"}),
    ("editor", f"   82  [11686.888109] {OOM}", OOM, {"mono": 11686.888109}),
    ("indented", f"    [11686.888109] {OOM}", OOM, {"mono": 11686.888109}),
    ("talos", "172.20.0.2: kern:    info: [2022-10-25T13:53:22.1Z]: x", "x", {"level": "info", "host": "172.20.0.2"}),
    ("fabric manager", "[Jul 10 2023 08:00:01] [ERROR] [tid 1234] x", "x", {"wall": at(2023, 7, 10, 8, 0, 1), "level": "ERROR"}),
    (
        "airflow",
        "[2023-10-13, 17:40:02 UTC] {taskinstance.py:1824} ERROR - x",
        "{taskinstance.py:1824} ERROR - x",
        {"level": "ERROR"},
    ),
]


@pytest.mark.parametrize(("line", "message", "told"), [f[1:] for f in FORMATS], ids=[f[0] for f in FORMATS])
def test_a_line_of_each_format(line: str, message: str, told: dict[str, Any]) -> None:
    prefix = parse_prefix(last_frame(line.encode()))
    assert prefix.message == message
    for name, value in told.items():
        if name in ("wall", "mono", "lacks", "resolution_s", "delta", "zone"):
            assert (getattr(prefix.stamp, name) if prefix.stamp else None) == value, name
        else:
            assert getattr(prefix, name) == value, name


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: CUDA error: device-side assert triggered",
        '  File "/home/u/train.py", line 12, in <module>',
        "usb 1-1: new high-speed USB device number 2",
        "cuda:0: out of memory",
        "train.py:12: UserWarning: x",
        "Epoch 3 | loss 0.3",
        "a | b | c",
        "100 200 300",
        "May 5 things go wrong",
        "[1/5] building",
        "[ 12%] Building CXX object",
        "loss: 0.5 step: 100",
        "step 1428634687123",
    ],
)
def test_ordinary_text_has_no_wrapper(line: str) -> None:
    assert parse_prefix(line).message == line


def test_a_kernel_line_about_a_device_is_no_journal_line() -> None:
    assert parse_prefix("[    5.100000] usb 1-1: new device").message == "usb 1-1: new device"
    assert (
        parse_prefix("[    5.100000] traps: python3[4711] general protection").message
        == "traps: python3[4711] general protection"
    )
