"""Logs about which reports once said what was not so, and what must not be said of them any more.

Each was found by somebody who read a report on a log of that kind. Logs in captured/ are what the programs beside them wrote (home
and installation renamed), those of sample_logs/ were captured, too; texts here stand for programs that cannot run everywhere, in
these programs' own words.
"""

from pathlib import Path
from typing import NamedTuple

CAPTURED = Path(__file__).parent / "captured"
SAMPLES = Path(__file__).parents[2] / "sample_logs"


class Once(NamedTuple):
    """`said`: the sentence. `logs`: file name to text. `never`: patterns no format may hold. `but`: what the text must say."""

    said: str
    logs: dict[str, str]
    never: tuple[str, ...]
    but: tuple[str, ...] = ()


def captured(name: str) -> dict[str, str]:
    """The logs of a program in captured/, or of a case in sample_logs/."""
    folder = CAPTURED / name if (CAPTURED / name).is_dir() else SAMPLES / name
    return {
        p.name: p.read_text(encoding="utf-8") for p in sorted(folder.iterdir()) if p.suffix not in (".py", ".sh", ".yaml", ".1")
    }


def steps(first: int, last: int, shape: str = "step {n} loss {loss:.4f}") -> str:
    return "".join(shape.format(n=n, loss=2.0 / (1 + n)) + "\n" for n in range(first, last))


TRACEBACK = 'Traceback (most recent call last):\n  File "/home/ann/run/train.py", line {line}, in <module>\n    {code}\n'
KILLED = (
    "{at} node7 kernel: {task} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
    "{at} node7 kernel: memory: usage {kib}kB, limit {kib}kB, failcnt 45\n"
    "{at} node7 kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={group},task_memcg={group},task={task},pid={pid},uid=1000\n"
    "{at} node7 kernel: Memory cgroup out of memory: Killed process {pid} ({task}) total-vm:1229208kB, anon-rss:326484kB, file-rss:20136kB, shmem-rss:0kB, UID:1000 pgtables:888kB oom_score_adj:0\n"
)

CASES = (
    Once(
        "Another rank or node died, a worker process was killed or vanished (a launcher's SIGTERM, an exit status of 1)",
        captured("gloo_collective_timeout"),
        ("Another rank or node died", "or a connection in it, was lost", "killed or vanished", "Somebody", "followed from it"),
        ("A collective operation (?:stalled or )?timed out",),
    ),
    Once(
        "A process was killed or vanished (of the very process that the kernel killed)",
        captured("whole_csv"),
        ("worker process", "killed or vanished"),
        ("The death of a process was reported",),
    ),
    Once(
        "earlier attempts; the program stopped with an error (a kernel's restarts, a request that failed)",
        captured("jupyter_kernel_exits"),
        ("(?i)earlier attempts", "stopped with an error", "45 s later"),
        ("did not start or did not answer", "An error was reported .* 57 s later"),
    ),
    Once(
        "Somebody or some script stopped it; nothing to repair (a server stopped hours after its kernel had died)",
        {
            "jupyter.log": "[I 2026-03-01 09:00:00.120 ServerApp] Kernel started: 4bb5b2f1-6c4e-4d70-a6cf-2f7ac9e5e0a1\n"
            "[I 2026-03-01 09:20:11.120 ServerApp] Saving file at /train.ipynb\n"
            "[I 2026-03-01 09:31:14.412 ServerApp] AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports\n"
            "[W 2026-03-01 09:31:14.413 ServerApp] kernel 4bb5b2f1-6c4e-4d70-a6cf-2f7ac9e5e0a1 restarted\n"
            "[I 2026-03-01 13:05:40.001 ServerApp] Saving file at /train.ipynb\n"
            "[C 2026-03-01 17:45:02.900 ServerApp] received signal 15, stopping\n"
            "[I 2026-03-01 17:45:02.901 ServerApp] Shutting down 1 kernel\n"
        },
        (r"\ASomebody or some script stopped it", "nothing to repair"),
        (r"\A(?:Not proven: |Probably: )?The notebook kernel died",),
    ),
    Once(
        "because /dev/shm was full (df in the same log shows 1 % used); not known: how large /dev/shm is",
        {
            "train.log": "Filesystem      Size  Used Avail Use% Mounted on\nshm              16G   96M   16G   1% /dev/shm\n"
            + steps(1, 40)
            + "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n"
            + TRACEBACK.format(line=40, code="for batch in loader:")
            + "RuntimeError: DataLoader worker (pid 412) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
        },
        ("was full", r"how large /dev/shm"),
    ),
    Once(
        "The scheduler took job 9 to make room for another job. Nothing in the program failed (an OSError in its evidence)",
        {
            "slurm-9.out": steps(1, 60)
            + TRACEBACK.format(line=18, code="torch.save(model.state_dict(), path)")
            + "OSError: [Errno 28] No space left on device: '/scratch/ann/last.pt'\n"
            + "srun: error: node-3: task 0: Exited with exit code 1\n",
            "sacct.txt": "JobID|State|ExitCode|Start|End\n9|FAILED|1:0|2026-03-01T10:00:00|2026-03-01T11:00:00\n8|PREEMPTED|0:0|2026-03-01T08:00:00|2026-03-01T09:00:00\n",
        },
        ("took job 9", "Nothing in the program failed"),
        ("Storage space ran out",),
    ),
    Once(
        "A GPU library could not be loaded (g++ was missing)",
        {
            "train.log": steps(1, 5)
            + TRACEBACK.format(line=31, code="out = compiled(x)")
            + "torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')\n"
        },
        ("GPU library",),
    ),
    Once(
        "Pure Python code does not do this; reinstall libpython (a recursion: the fault lies 8 below the stack pointer)",
        captured("recursion"),
        ("Pure Python code does not do this", "[Rr]einstall libpython"),
    ),
    Once(
        "The operation train_loss made NaN (the name of a metric)",
        {"train.log": steps(1, 30, "Epoch {n} train_loss={loss:.4f}") + "".join(f"Epoch {n} train_loss=nan\n" for n in range(30, 60))},
        ("operation train_loss",),
    ),
    Once(
        "data-loader workers (of a multiprocessing.Pool)",
        captured("broken_pool"),
        ("data-loader worker", "loader worker"),
    ),
    Once(
        "the loss, a gradient ... became NaN; weights saved before it are of use (scikit-learn's check of its input)",
        captured("sklearn_nan"),
        (r"\b[Ll]oss\b", "gradient", "weights saved", "it ran on"),
    ),
    Once(
        "died of a bus error 0.99 (a metric of the class bus)",
        captured("metric_of_class_bus"),
        ("bus error\\)", "process.bus_error"),
    ),
    Once(
        "a file is missing (pip install protobuf<4.21.3 in a shell)",
        captured("pip_redirection"),
        (r"\A(?:Not proven: |Probably: )?A file or directory is missing",),
    ),
    Once(
        "The run made no progress any more (the status page of a web server)",
        {
            "status.json": "".join(
                f'{{"time": "2026-03-01T10:{m:02}:00Z", "connections": {{"active": 2, "reading": 0, "writing": 1, "waiting": 1}}, "requests": 1200}}\n'
                for m in range(50)
            )
        },
        ("no progress",),
        ("No crash is shown",),
    ),
    Once(
        "6 lines, wrapped at 74 columns; evidence `(2x3 and 2x3)Epoch 1` (ten lines, none of them wrapped)",
        captured("ten_lines"),
        ("wrapped at", r"2,2\) ?Epoch"),
        ("10 lines",),
    ),
    Once(
        "kills of other units as evidence of this unit's limit; linked by the same log (of a whole host)",
        {
            "syslog": KILLED.format(at="2026-03-01T10:00:00+00:00", task="java", kib=1048576, group="/system.slice/solr.service", pid=100)
            + KILLED.format(at="2026-03-01T10:20:00+00:00", task="python3", kib=409600, group="/system.slice/train.service", pid=200),
            "train.log": "2026-03-01T10:19:50+00:00 pid 200 step 12 loss 0.2\nKilled\n",
        },
        (r"evidence(?:.|\n)*?process 100 (?:.|\n)*?\n\n", "the same log"),
        ("train.service",),
    ),
    Once(
        "a kill at another limit, seconds before, as evidence of this one",
        {
            "dmesg.txt": "".join(
                KILLED.replace(" node7 kernel:", "").format(at=f"2026-03-01T10:00:0{s},000000+00:00", task="python3", kib=409600, group=f"/{g}", pid=p)
                for s, g, p in ((0, "other", 100), (5, "train", 200))
            )
        },
        ("Killed process 100", "/other reached"),
        ("Killed process 200", "the cgroup /train reached"),
    ),
    Once(
        "(the last of three kills alone; a dmesg with an Xid 79, an NFS hang and an EXT4 error told one thing)",
        {
            "dmesg.txt": "2026-03-01T08:00:00,000000+00:00 NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
            "2026-03-01T11:00:00,000000+00:00 nfs: server filer3 not responding, still trying\n"
            "2026-03-01T14:30:00,000000+00:00 EXT4-fs error (device sda2): ext4_find_entry:1455: inode #1835009: comm python3: reading directory lblock 0\n"
            + "".join(
                KILLED.replace(" node7 kernel:", "").format(at=f"2026-03-01T{h}:00:00,000000+00:00", task="python3", kib=409600, group=f"/slurm/uid_1/job_{h}/step_0", pid=h)
                for h in (18, 20, 22)
            )
        },
        (),
        ("fell off the bus|Xid|fallen off|off its bus|lost from the PCIe bus", "NFS|network file system|file system", "disk", "job 18|jobs 18 to 22", "job 20|jobs 18 to 22", "job 22|jobs 18 to 22"),
    ),
    Once(
        "job 4199 (of 200 kills of 200 Slurm jobs, seven minutes apart)",
        {
            "dmesg.txt": "".join(
                KILLED.replace(" node7 kernel:", "").format(
                    at=f"2026-03-01T{7 * i // 60:02}:{7 * i % 60:02}:00,000000+00:00", task="python3", kib=409600, group=f"/slurm/uid_1/job_{4000 + i}/step_0", pid=300 + i
                )
                for i in range(60)
            )
        },
        (),
        ("60 in these logs", "59 times: A memory limit was hit, jobs 40.* about every 7 min"),
    ),
    Once(
        "(neither rank 37 on node04, nor that 63 others timed out)",
        {
            "slurm-4711.out": "".join(f"[rank{r}]: step {n} loss {2 / (1 + n):.4f}\n" for n in range(3) for r in range(64))
            + "".join(f"[rank37]: {line}\n" for line in TRACEBACK.format(line=31, code="return table[index]").splitlines())
            + "[rank37]: IndexError: index 512 is out of bounds for dimension 0 with size 512\n"
            + "".join(
                f"[rank{r}]:[E301 12:10:0{r % 10}.{100000000 + r} ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=411, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n"
                for r in range(64) if r != 37
            )
            + "Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-01_12:00:02\n  host      : node04\n  rank      : 37 (local_rank: 5)\n  exitcode  : 1 (pid: 41337)\n  error_file: <N/A>\n"
        },
        (),
        (r"where +rank 37 on node04, [^;]*; 63 other ranks waited or failed with it",),
    ),
    Once(
        "(an early run's failure, where several runs are appended to one file)",
        captured("several_runs"),
        (r"\A(?:Probably: )?A package is missing", "(?i)followed from it"),
        (r"where +/home/user/run/train.py:17", "earlier attempts .* 1 +A package is missing"),
    ),
    Once(
        "Nothing here crashed, 69 % (the loss was NaN to the end, and the result is worthless)",
        captured("nan_to_the_end"),
        ("Nothing here crashed", "No crash is shown"),
        ("became NaN",),
    ),
    Once(
        "helm upgrade HUB, no sbatch --mem (for a Slurm job)",
        {
            "slurm-4711.out": steps(1, 50)
            + "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4711.0. Some of your processes may have been killed by the cgroup out-of-memory handler.\n"
            + "srun: error: node-1: task 0: Out Of Memory\n"
        },
        ("helm",),
        ("sbatch --mem",),
    ),
    Once(
        "helm upgrade HUB, no sbatch --mem (for a Slurm job that the kernel killed)",
        captured("slurm_oom"),
        ("helm",),
        ("sbatch --mem",),
    ),
    Once(
        "resize_token_embeddings (for a label 9 of 7 classes in Keras)",
        {
            "train.log": "Epoch 1/3\n"
            + TRACEBACK.format(line=20, code="model.fit(x, y)")
            + "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\nReceived a label value of 9 which is outside the valid range of [0, 7).  Label values: 1 9 3\n"
        },
        ("resize_token_embeddings", r"(?<![/.\w])torch\."),
    ),
    Once(
        'set_start_method("spawn") as the cure for the very call that failed; the main guard not mentioned',
        captured("spawn_chosen_unguarded"),
        (r"\$ .*set_start_method\(.spawn",),
        ("__main__|main guard",),
    ),
    Once(
        "target.long() (for Float against BFloat16)",
        {"train.log": steps(1, 3) + TRACEBACK.format(line=9, code="y = layer(x)") + "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16\n"},
        (r"target\.long",),
    ),
    Once(
        "smartctl -a /dev/loop0 (a loop device is a file)",
        {
            "dmesg.txt": "".join(
                f"2026-03-01T10:00:0{i},000000+00:00 I/O error, dev loop0, sector {40962 + i} op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n" for i in range(3)
            ),
        },
        ("smartctl -a /dev/loop0",),
    ),
    Once(
        "halve the batch (for a GPU that others hold)",
        {
            "train.log": steps(1, 3)
            + TRACEBACK.format(line=40, code="model.cuda()")
            + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 8.10 MiB is free. Process 999 has 22.10 GiB memory in use. Including non-PyTorch memory, this process has 1.50 GiB memory in use. Of the allocated memory 1.10 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.\n"
        },
        (r"do first  .*(?:[Hh]alve|smaller batch)",),
    ),
    Once(
        "copies of cuDNN (for LLVM ERROR: Unsupported rounding mode on an old GPU)",
        {"train.log": steps(1, 3) + "LLVM ERROR: Unsupported rounding mode for intrinsic\nAborted (core dumped)\n"},
        ("cuDNN", "cudnn"),
    ),
    Once(
        "stopped by the user, nothing to repair (Ctrl-C while all threads waited for locks)",
        captured("interrupted_while_waiting"),
        ("nothing to repair",),
        ("waited in", "stacks of all threads"),
    ),
    Once(
        "reinstall packages (a build of PyTorch without CUDA was asked for a GPU)",
        {"train.log": "loading\n" + TRACEBACK.format(line=9, code="model.cuda()") + "AssertionError: Torch not compiled with CUDA enabled\n"},
        (r"do first  Reinstall the driver",),
        ("built for the CPU|for the CPU alone|without CUDA|no CUDA",),
    ),
)  # fmt: skip
