"""What the lines around the evidence tell of the place."""

from collections.abc import Mapping

import pytest

from forensics.advice.whereabouts import location_text
from forensics.model import Value
from forensics.readers.near_lines import place_near
from tests.report.made import proof

LIBRARY = "/opt/venv/lib/python3.11/site-packages/torch/storage.py"
CHAINED = f"""Traceback (most recent call last):
  File "{LIBRARY}", line 414, in _new_shared
    return cls._new(size)
>RuntimeError: unable to open it

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 10, in <module>
    main()
  File "{LIBRARY}", line 7, in load"""
OUTER = f"""Traceback (most recent call last):
  File "train.py", line 10, in <module>
    for batch in loader:
  File "{LIBRARY}", line 7, in load
RuntimeError: Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "{LIBRARY}", line 414, in _new_shared
>RuntimeError: unable to open it"""
COLAB = """RuntimeError                              Traceback (most recent call last)
<ipython-input-19-adef1f515998> in <module>()
     27         # the model
---> 28         features = embedding(image)
     29

/usr/lib/python3.6/dist-packages/torch/nn/functional.py in pool(input)
     486     return max_pool2d(
--> 487         input)
>RuntimeError: CUDA out of memory"""
DUMP = """>Aborted (core dumped)
Thread 0x7f80 (most recent call first):
  File "/home/u/train.py", line 60 in run"""
FAR = (
    """Traceback (most recent call last):
  File "train.py", line 10, in main
ValueError: caught and logged
INFO step 1
INFO step 2
"""
    + "\n" * 20
    + ">Killed"
)
POD_STATUS = """  "metadata": { "name": "train-579c57db7b-6xjnz" },
  "status": {
>    "message": "Pod was terminated in response to imminent node shutdown.",
    "containerStatuses": [{"""
HUNG = """[  312.90] INFO: task fit-7:2150 blocked for more than 144 seconds.
[  313.03] INFO: task fit-8:2230 blocked for more than 144 seconds.
>[  313.41] Kernel panic - not syncing: hung_task: blocked tasks"""
RAISED = f"""Traceback (most recent call last):
  File "train.py", line 8, in main
  File "{LIBRARY}", line 414, in load
>RuntimeError: no"""
JAVA = """>Caused by: java.lang.IndexOutOfBoundsException: readerIndex(196608)
\tat io.netty.buffer.AbstractByteBuf.checkReadableBytes0(AbstractByteBuf.java:1442)
\tat org.acme.serve.Decoder.decode(Decoder.java:56)"""
GO = """>E1011 02:36:26.0 1 runtime.go:79] Observed a panic: runtime.boundsError
goroutine 430 [running]:
k8s.io/util/runtime.logPanic({0x1a})
\t/workspace/vendor/k8s.io/util/runtime/runtime.go:75 +0x85
example.org/filter.(*Plugin).Filter(0xc0)
\t/workspace/pkg/filter/filter.go:199 +0x99b"""
TIMED_OUT = """[rank1] step 20: evaluating
>[rank0]: RuntimeError: Timed out waiting 15000ms for recv operation to complete"""


@pytest.mark.parametrize(
    ("log", "facts", "where"),
    [
        (CHAINED, {"file": LIBRARY, "line_no": 414}, "train.py:10, raised in torch/storage.py:414"),
        (OUTER, {"file": LIBRARY, "line_no": 414}, "train.py:10, raised in torch/storage.py:414"),
        (COLAB, {"gpu": 0}, "cell 19, line 28, raised in torch/nn/functional.py:487, GPU 0"),
        (DUMP, {}, ""),
        (FAR, {}, ""),
        (POD_STATUS, {}, "pod train-579c57db7b-6xjnz"),
        (">web-7d9  0/1  ImagePullBackOff  0  13m", {}, "pod web-7d9"),
        ("root@nas02[/]# nvidia-smi\n>Failed to initialize NVML", {}, "host nas02"),
        ("[root@master ~]# kubectl describe node node1\n>Warning SystemOOM 17m kubelet, node1 System OOM", {}, "host node1"),
        ("rdzv_endpoint    : 10.40.1.16\n>RendezvousConnectionError: The connection to the C10d store has failed", {}, "endpoint 10.40.1.16"),
        (TIMED_OUT, {"rank": 0, "timeout_s": 15.0}, "rank 0 reports it, rank 1 not"),
        (">[Rank 3] CUDA error: uncorrectable ECC error encountered", {}, "rank 3"),
        (">Failed to write server-info to /home/u/run/server.json: [Errno 28] No space left", {}, "path /home/u/run/server.json"),
        (">step: 16%|## | 1045/6400 [1:15:32<6:20:11, 4.2s/it] loss scale 64", {}, "step 1045"),
        ("Epoch 2/10\n>9595/9595 [====] - 1s - loss: nan", {"step_no": 9595}, "epoch 2, step 9595"),
        (f"epoch 2 step 500 loss 1.9 time/step 0.41s\n{RAISED}", {"file": "train.py", "line_no": 8}, "train.py:8, raised in torch/storage.py:414, epoch 2, step 500"),
        ("Epoch: [0/90][400/1252] loss 6.1\n>Killed", {}, "epoch 0, step 400"),
        ("Train Epoch: 3 [640/60000 (1%)] Loss: 2.29\n>Killed", {}, "epoch 3"),
        ("(EngineCore_DP0 pid=42887) INFO loading\n>(EngineCore_DP0 pid=42887) ERROR 04-26 12:05:05 [core.py:1108] no kernel", {}, "EngineCore_DP0 (pid 42887)"),
        (">(TrainWorker pid=912, ip=10.1.2.3) ValueError: no data", {}, "host 10.1.2.3, TrainWorker (pid 912)"),
        (">[cgpu12:56309:2:56362] Caught signal 11 (Segmentation fault)", {"rank": 0}, "rank 0, pid 56309"),
        ('>E1009 02:48:09.583224       1 run.go:74] "command failed" err="unknown field"', {}, "logged at run.go:74"),
        (">ERROR 03-10 07:38:43 [model_runner.py:4219] Failed to load model", {}, "logged at model_runner.py:4219"),
        (">2026-11-21 08:23:45.123 | ERROR    | app.train:main:88 - it failed", {}, "logged at app.train:88"),
        (">E1118 16:05:23 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog", {"rank": 1}, "rank 1"),
        (HUNG, {"task": "khungtaskd", "pid": 45, "cpu": 1}, "fit-7 (pid 2150)"),
        (">Oops: 0000 [#1] PREEMPT SMP\nRIP: 0010:rt_mutex_adjust_prio+0x70/0xa0", {"task": "rcub/0", "pid": 11}, "rcub/0 (pid 11), kernel function rt_mutex_adjust_prio"),
        (">Oops: 0003 [#1] SMP\nIP: [<ffffffffa0002012>] mymodule_init+0x12/0x1e [patch]", {"task": "insmod", "pid": 7}, "insmod (pid 7), kernel function mymodule_init"),
        (">Internal error: Oops: 17 [#1]\nPC is at semctl_down+0x64/0x74", {}, "kernel function semctl_down"),
        (">Oops: Kernel access of bad area, sig: 11 [#1]\nNIP [c0000000001b2c3d] .kmem_free+0x40/0x1c", {}, "kernel function kmem_free"),
        (">train_distr.py: error: unrecognized arguments: --local-rank=3", {"file": LIBRARY, "line_no": 264}, "local rank 3, train_distr.py"),
        ("In [13]:\niteration 170\n>KeyboardInterrupt:", {"file": "core/solver.py", "line_no": 132}, "core/solver.py:132, cell 13"),
        ("In [11]:\n>OSError: gated", {"file": "/tmp/ipykernel_17/319.py", "line_no": 2}, "cell 11, line 2"),
        ("[epoch:10/1200] [loss:0.002]\n>Killed", {}, "epoch 10"),
        ("epochs: 300\nlr: 0.1\n>Killed", {}, ""),
        (f"Epoch 3/5 loss 0.3\n{RAISED}", {"file": "train.py", "line_no": 8}, "train.py:8, raised in torch/storage.py:414, epoch 3"),
        ("100%|####| 90/90 [00:01<00:00, 53.1it/s]\n>Killed", {}, ""),
        (">Loss.cu:106: nll_loss: block: [0,0,0], thread: [2,0,0] Assertion `t >= 0` failed.", {"file": "train.py", "line_no": 8}, "train.py:8, raised in Loss.cu:106"),
        (JAVA, {}, "Decoder.java:56"),
        (GO, {}, "/workspace/pkg/filter/filter.go:199"),
        (">igc 0000:02:00.0: PCIe link lost, device now detached", {}, "PCI device 0000:02:00.0"),
        (f"│ /home/u/very/long/folder/ESimCSE.py:64 in       │\n│ word_repetition   │\n│ {LIBRARY}:449 in sample │\n>ValueError: no", {"file": LIBRARY, "line_no": 449}, "/home/u/very/long/folder/ESimCSE.py:64, raised in torch/storage.py:449"),
        (">Worker IP address: 10.1.2.3 Worker port: 10003 Worker PID: 912 Worker exit type: SYSTEM_ERROR", {}, "host 10.1.2.3, pid 912"),
        (">2017-03-05 WARN LocalJobRunner: job_local825332237_0001", {"module": "org/apache/Http"}, "job_local825332237_0001"),
        ("amdgpu 0000:0a:00.0: amdgpu: GPU reset begin!\n>[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout", {}, "PCI device 0000:0a:00.0"),
        (">r8125 0000:22:01.0 eth1: NETDEV WATCHDOG: transmit queue 0 timed out", {"interface": "eth1"}, "eth1, PCI device 0000:22:01.0"),
        (">NVRM: GPU6 _kgspIsHeartbeatTimedOut: Heartbeat timed out", {}, "GPU 6"),
        (">OOM when allocating [[Node: training/Adam/mul_23 = Mul[T=DT_FLOAT", {}, "operation training/Adam/mul_23"),
        (">run.sh: line 5: 19817 Killed                  python train.py --lr 1", {"pid": 19817}, "train.py (pid 19817)"),
        (">[1]    30634 bus error  python test.py", {}, "test.py (pid 30634)"),
        (">step 9 rss 600 MB\njob.sh: line 2: 77 Killed     python -m pkg.train", {"last_step": 9, "growth_bytes": 5}, "-m pkg.train (pid 77)"),
        (">Windows fatal exception: access violation\nCurrent thread 0x00 (most recent call first):\n  File \"a.py\", line 9 in f", {}, "a.py:9"),
        ("  host      : n7\n  rank      : 2 (local_rank: 2)\n>  exitcode  : -9 (pid: 7)", {"pid": 7}, "rank 2 on n7, pid 7"),
        (">Dec 21 16:54:12 ups-host daemon.crit apcupsd[10]: Power failure.", {}, "host ups-host"),
        (">node7:10366:10377 [0] misc/socket.cc:533 NCCL WARN Connect failed", {}, "host node7"),
        (">   JobState=NODE_FAIL Reason=NodeDown\n   NodeList=node07", {"job": 4}, "host node07, job 4"),
        (">/usr/bin/python3: No module named ipykernel_launcher", {"kernel_id": "6157"}, "path /usr/bin/python3"),
        (">FileNotFoundError: [Errno 2] No such file or directory: '/a/bin/python'", {"file": LIBRARY, "line_no": 4}, "path /a/bin/python"),
        (">The client socket has timed out while trying to connect to (10.0.0.1, 41331).", {"port": 41331}, "endpoint 10.0.0.1:41331"),
        (">NET/IB : Got completion from peer 10.0.0.7<38560> with error 12", {"port": 38560}, "peer 10.0.0.7"),
        (">The server socket has failed to listen. port: 29500, EADDRINUSE", {"port": 29500}, "port 29500"),
        ("15:11:49.309 [info] Started Kernel course (Python 3.10.12) (pid: 9)\n>Canceled future\n15:12:38.090 [info] End cell 10 execution @ 16", {}, "cell 10, notebook kernel course"),
        (">Internal error: Oops: 96000005 [#1] SMP\npc : drm_setversion+0x1d4/0x2a0", {}, "kernel function drm_setversion"),
        (">  385/1000 [=====>.....] - ETA: 1:54 - loss: nan", {}, "step 385"),
        ("[I 08:39:48.076 ServerApp] Saving file at /a/train.ipynb\n>kernel 5cc2 restarted", {"kernel_id": "5cc2"}, "notebook train.ipynb"),
        ("Saving file at /a.ipynb\nSaving file at /b.ipynb\n>kernel 5cc2 restarted", {"kernel_id": "5cc2"}, "notebook kernel 5cc2"),
        ("Input Notebook:  train.ipynb\nExecuting Cell 3-------\n>DeadKernelError: Kernel died", {}, "cell 3, notebook train.ipynb"),
        ("mmdet - INFO - Start running, host: u@gpu-04, work_dir: /w\nEpoch [1][50/9870] lr: 1e-3\n>Killed", {}, "host gpu-04, epoch 1, step 50"),
        (">failed (exitcode: -11) local_rank: 1 (pid: 297) of binary: /usr/bin/python", {}, "local rank 1, pid 297"),
        ('>FATAL: "fit": executable file not found\nsrun: error: cn07: tasks 0-7: Exited with exit code 255\nsrun: Terminating StepId=4711.0', {}, "host cn07, job 4711"),
        ("ERROR: for fit  Cannot start service fit: failed to create shim\n>nvml error: driver/library version mismatch", {}, "container fit"),
        ("Name:             fit-0\nNamespace:        ml\nEvents:\n>  Warning  FailedScheduling  12s  0/1 nodes are available", {}, "pod ml/fit-0"),
        ("  Normal  Scheduled  3m  Successfully assigned ml/fit-0 to n7\n>  Warning  Evicted  2m  kubelet  usage exceeds", {}, "pod ml/fit-0"),
        ("$ kubectl describe pod fit-0\nEvents:\n>  Warning  Evicted  2m  kubelet  usage exceeds", {}, "pod fit-0"),
        (">One or more tensors\n[1,0]<stderr>:Stalled ranks:\n[1,0]<stderr>:6: [horovod_allreduce.0]", {"rank": 0}, "rank 6 did not arrive"),
        (">[n7:15:0:15] ib_mlx5_log.c:139  Transport retry count exceeded", {}, "host n7, pid 15"),
        (">[rank1]: Timed out waiting\n[rank0]: Connection closed by peer [::1]:5", {"rank": 1, "timeout_s": 28.0}, "rank 1 reports it"),
        (">[rank1]: Timed out waiting\n[rank0]: step 4", {"rank": 1, "timeout_s": 28.0}, "rank 1 reports it, rank 0 not"),
        (">was ended by signal 9", {"task": "python", "pid": 7, "child_no": 1}, "child 1, counted from 0: python (pid 7)"),
        (">thread panicked", {"task": "<unnamed>"}, ""),
        (">GPU hang: ecode 12", {"pid": 0, "gpu": 1}, "GPU 1"),
        (">no interface of that name", {"interface": "^lo"}, ""),
        (">Training:   0%|          | 0/1000 [00:00<?, ?it/s]terminate called", {}, ""),
    ],
)  # fmt: skip
def test_the_place_that_the_lines_around_tell(log: str, facts: Mapping[str, Value], where: str) -> None:
    rows = log.split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith(">"))
    texts = [row.removeprefix(">") if i == at else row for i, row in enumerate(rows)]
    found = place_near(facts, [proof(texts[at])], lambda _: (texts, at))
    assert location_text({**facts, **found}) == where


def test_without_evidence_nothing_is_told() -> None:
    assert place_near({}, [], lambda _: ((), 0)) == {}
