"""What changed between the attempts of one log, in the wording of argparse, Slurm, git, PyTorch and others."""

from collections.abc import Callable

import pytest

from forensics.model import Report
from forensics.model.answers import Change

Analyze = Callable[..., Report]
OOM = (
    'Traceback (most recent call last):\n  File "/home/ann/run/train.py", line 40, in <module>\n    loss.backward()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {ask} GiB. GPU 0 has a total capacity of 23.65 GiB of which {free}"
    " GiB is free. Of the allocated memory 21.90 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated."
    " If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
)


def attempt(says: str, epochs: int, ask: str = "2.00", free: str = "1.10") -> str:
    """A run that says some lines, counts epochs and runs out of GPU memory."""
    told = "".join(f"Epoch {n} loss {2 / n:.3f}\n" for n in range(1, epochs + 1))
    return f"Starting training run now\n{says}\n{told}{OOM.format(ask=ask, free=free)}"


def between(analyze: Analyze, then: str, last: str) -> dict[str, tuple[str, str]]:
    """By name what changed, without how far it was reached."""
    (earlier,) = analyze(slurm_out=attempt(then, 3) + attempt(last, 3)).earlier_attempts
    return {c.what: (c.then, c.last) for c in earlier.changes}


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("line", "what", "then", "last"),
    [
        ("Namespace(batch_size={}, lr=0.1)", "--batch-size", "64", "32"),
        ("+ python train.py --data /in --learning-rate={}", "--learning-rate", "0.1", "0.01"),
        ("torchrun --nproc_per_node {} train.py", "--nproc-per-node", "8", "4"),
        ("Instantaneous batch size per device = {}", "batch size", "8", "4"),
        ("SLURM_NODELIST=gpu-[{}]", "node", "gpu-[03-04]", "gpu-[05-06]"),
        ("Running on node {}", "node", "gpu-03", "gpu-07"),
        ("hostname: {}", "node", "gpu-03.cluster", "gpu-07.cluster"),
        ("CUDA_VISIBLE_DEVICES={}", "visible GPUs", "0,1", "2,3"),
        ("sbatch --mem={} train.sh", "--mem", "32G", "64G"),
        ("memory: usage 1048576kB, limit {}, failcnt 3", "memory limit", "1048576kB", "2097152kB"),
        ("PyTorch version: {}", "PyTorch", "2.3.1", "2.4.0"),
        ("| NVIDIA-SMI    Driver Version: {}    CUDA Version: 12.4 |", "driver", "550.54.15", "560.35.03"),
        ("git commit: {}", "commit", "3f2a91c", "9b1c0de"),
        ("HEAD is now at {} Longer warmup", "commit", "3f2a91c", "9b1c0de"),
        ("world_size: {}", "processes", "16", "8"),
    ],
)
def test_what_a_line_says_otherwise(analyze: Analyze, line: str, what: str, then: str, last: str) -> None:
    value = then.strip("gpu-[]") if "[{}]" in line else then
    now = last.strip("gpu-[]") if "[{}]" in line else last
    changed = between(analyze, line.format(value), line.format(now))
    assert changed == {what: (then, last)}
    assert between(analyze, line.format(value), line.format(value)) == {}


def test_how_far_it_came_and_what_stayed(analyze: Analyze) -> None:
    text = attempt("SLURM_NODELIST=gpu-03\nbatch_size=64", 3) + attempt("SLURM_NODELIST=gpu-03\nbatch_size=32", 6)
    (earlier,) = analyze(slurm_out=text).earlier_attempts
    assert (earlier.number, earlier.same_cause, earlier.line) == (1, True, 10)
    assert earlier.changes[0] == Change("reached", "epoch 3", "epoch 6", 6, 19)
    assert earlier.changes[1] == Change("batch size", "64", "32", 3, 13)
    assert "node gpu-03" in earlier.unchanged


def test_a_rate_is_not_how_far_it_came(analyze: Analyze) -> None:
    text = attempt("batch_size=64", 3).replace(" loss 0", " step 90 time/step 0.41s tokens/step 512 loss 0") + attempt(
        "batch_size=32", 6
    )
    (earlier,) = analyze(slurm_out=text).earlier_attempts
    assert (earlier.changes[0].what, earlier.changes[0].then) == ("reached", "epoch 3, step 90")


def test_what_only_one_of_them_says_is_no_change(analyze: Analyze) -> None:
    assert between(analyze, "SLURM_NODELIST=gpu-03", "batch_size=32") == {}
    (other,) = analyze(
        slurm_out=attempt("", 3).replace(OOM.format(ask="2.00", free="1.10"), "ModuleNotFoundError: No module named 'apex'\n")
        + attempt("", 3)
    ).earlier_attempts
    assert not other.same_cause


@pytest.mark.parametrize("name", ["api_key", "password", "hf-token", "wandb_key", "auth"])
def test_an_argument_that_is_a_secret_is_not_compared(analyze: Analyze, name: str) -> None:
    line = f"+ python train.py --{name} {{}} --lr 0.1"
    assert between(analyze, line.format("hunter2x"), line.format("hunter3x")) == {}


def test_a_cells_output_is_no_run_with_settings_of_its_own(analyze: Analyze) -> None:
    assert analyze(train_log="batch_size=64\n" + OOM.format(ask="2.00", free="1.10")).earlier_attempts == ()


def test_of_one_cause_in_two_attempts_the_last_one_is_told(analyze: Analyze) -> None:
    text = attempt("batch_size=64", 3) + attempt("batch_size=32", 6, "1.00", "0.50")
    first = analyze(slurm_out=text).causes[0]
    assert first.facts["request_bytes"] == 1 << 30
    assert first.evidence[0].line > text[: text.index("batch_size=32")].count("\n")
    assert "in place of 32" in first.remediations[0].action


POOL = (
    "OpenBLAS blas_thread_init: pthread_create failed for thread {} of 64: Resource temporarily unavailable\n"
    "OpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, 513046 max\n"
)
ASSERTED = (
    "/pytorch/aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [{},0,0]"
    " Assertion `t >= 0 && t < n_classes` failed.\n"
)
SHM = (
    "node7:9621:{} [3] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-KWfVyt to 5967876 bytes\n"
    "node7:9621:{} [3] NCCL INFO transport/shm.cc:114 -> 2\nnode7:9621:{} [3] NCCL INFO transport.cc:33 -> 2\n\n"
)
STACKS = (
    "Stack dump for ann     {} 0.1  0.1 1751908 151888 pts/0  Sl   12:48   0:01 ray_worker\nThread 0x7F4AA36D9700 (active)\n"
    "\t _periodically_flush_profile_events (ray/profiling.py:97)\n\t run (threading.py:864)\n\t _bootstrap (threading.py:884)\n"
    "Thread 0x7F4AACDE7700 (active)\n\t _get_next_task_from_local_scheduler (ray/worker.py:988)\n\t main_loop (ray/worker.py:1005)\n\n"
)
CHAINED = (
    "Failed to write server-info to /home/ann/runtime/nbserver-28811.json: [Errno 28] No space left on device\n"
    "OSError: [Errno 28] No space left on device\n\nDuring handling of the above exception, another exception occurred:\n\n"
    'Traceback (most recent call last):\n  File "/opt/conda/bin/jupyter-notebook", line 11, in <module>\n    sys.exit(main())\n'
    '  File "/opt/conda/lib/notebook/notebookapp.py", line 1834, in start\n    self.write_browser_open_file()\n'
    "OSError: [Errno 28] No space left on device\n"
)
RESTARTS = "[I 2026-03-01 09:00:01 ServerApp] Kernel started: 5ee29fc4-3eae-4aab-815a-3a49b20743fa\n" + "".join(
    f"[I 2026-03-01 09:00:{3 * n:02} ServerApp] AsyncIOLoopKernelRestarter: restarting kernel ({n}/5), new random ports\n"
    "[W 2026-03-01 09:00:{3 * n:02} ServerApp] kernel 5ee29fc4-3eae-4aab-815a-3a49b20743fa restarted\n"
    for n in range(1, 6)
)
RESTARTS += "[W 2026-03-01 09:00:18 ServerApp] AsyncIOLoopKernelRestarter: restart failed\n"
LOGINS = (
    "ann      tty7         :0               Wed Aug 23 15:17   still logged in\n"
    "reboot   system boot  6.1.0-10-amd64   Wed Aug 23 15:17   still running\n"
    "ann      tty7         :0               Wed Aug 23 13:19 - crash  (01:58)\n"
    "reboot   system boot  6.1.0-10-amd64   Wed Aug 23 13:18   still running\n"
    "ann      tty7         :0               Wed Aug 23 09:26 - 13:18  (03:52)\n"
)


LOOP = "2026-03-01 20:18:17,279 - INFO - Fetching the weather of all years\n2026-03-01 20:18:18,270 - INFO - API client initialized\n" + "".join(
    f"2026-03-01 20:18:2{n},270 - INFO - Processing the year {2010 + n}\n2026-03-01 20:18:2{n},300 - INFO - Asking for {2010 + n}\n"
    f"2026-03-01 20:18:2{n},800 - ERROR - Failed to download {2010 + n}: 403 Client Error: Forbidden for url: https://api.example.org/{n}\n"
    "cost limits exceeded\n"
    for n in range(6)
)  # fmt: skip


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("weather_log", LOOP),
        ("train_log", "".join(map(POOL.format, range(50, 54)))),
        ("stderr_txt", "".join(map(ASSERTED.format, range(30, 34))) + "RuntimeError: CUDA error: device-side assert triggered\n"),
        ("nccl_log", "".join(SHM.format(n, n, n) for n in range(9688, 9692))),
        ("stack_txt", "".join(map(STACKS.format, (20768, 20769, 20770)))),
        ("jupyter_log", CHAINED),
        ("server_log", RESTARTS),
        ("last_txt", LOGINS),
    ],
    ids=[
        "a loop",
        "threads of a pool",
        "threads of a GPU",
        "threads of ranks",
        "processes",
        "chained exceptions",
        "restarts",
        "logins",
    ],
)
def test_what_is_told_again_is_no_attempt(analyze: Analyze, name: str, text: str) -> None:
    found = analyze(**{name: text})
    assert found.verdict != "no_crash"
    assert found.earlier_attempts == ()


def test_the_jobs_of_one_file_are_attempts_and_parts_of_their_reports_are_not(analyze: Analyze) -> None:
    """LSF writes its report, of a header, the script and the used resources, behind the output of each job."""
    job = (
        'Traceback (most recent call last):\n  File "main.py", line 10, in <module>\n    from {} import keyboard\n'
        "ModuleNotFoundError: No module named '{}'\n\n" + "-" * 60 + "\nSender: LSF System <lsfadmin@n1>\nSubject: Job {}: <train> in"
        " cluster <c> Exited\n\nJob <train> was submitted from host <login> by user <ann> in cluster <c> at Sat Nov 28 19:27:54 2020\n"
        "Job was executed on host(s) <n1>, in queue <gpu>, as user <ann> in cluster <c> at Sat Nov 28 23:20:39 2020\n"
        "</home/ann> was used as the home directory.\n</home/ann/run> was used as the working directory.\n"
        "Started at Sat Nov 28 23:20:39 2020\nTerminated at Sat Nov 28 23:20:44 2020\n\nYour job looked like:\n\n" + "-" * 60
        + "\n# LSBATCH: User input\npython main.py\n" + "-" * 60
        + "\n\nExited with exit code 1.\n\nResource usage summary:\n\n    CPU time :   1.07 sec.\n    Max Memory : -\n\n"
        "The output (if any) is above this job summary.\n\n"
    )  # fmt: skip
    found = analyze(out_txt=job.format("pynput", "pynput", 1) + job.format("pynput", "pynput", 2) + job.format("apex", "apex", 3))
    assert [(a.line, a.same_cause) for a in found.earlier_attempts] == [(4, False), (36, False)]  # another package was missing
    alone = analyze(out_txt=job.format("pynput", "pynput", 1))
    assert alone.earlier_attempts == () and alone.verdict == "crash"


def test_a_program_that_crashes_again_is_told_by_its_new_pid(analyze: Analyze) -> None:
    crash = (
        "PID {} received SIGSEGV for address: 0x0\n/srv/node_modules/segfault-handler.node(+0x3127)[0x7f235bdfe127]\n"
        "/lib/x86_64-linux-gnu/libpthread.so.0(+0x12890)[0x7f2374b08890]\nnode(napi_delete_reference+0x28)[0x9d7cf8]\n"
    )
    found = analyze(crash_log="".join(map(crash.format, (28189, 28681, 28702))))
    assert [a.line for a in found.earlier_attempts] == [1, 5]


def test_a_warning_above_the_first_lines_does_not_hide_that_they_come_again(analyze: Analyze) -> None:
    start = (
        "2017-03-05 00:41:14,265 WARN org.apache.hadoop.util.NativeCodeLoader: Unable to load native-hadoop library for your platform\n"
        "2017-03-05 00:41:14,845 INFO org.apache.hadoop.conf.Configuration.deprecation: session.id is deprecated\n"
        "2017-03-05 00:41:14,849 INFO org.apache.hadoop.metrics.jvm.JvmMetrics: Initializing JVM Metrics with processName=JobTracker\n"
        "2017-03-05 00:41:27,100 WARN org.apache.hadoop.mapred.LocalJobRunner: job_local1_0001\n"
        "java.lang.Exception: java.lang.NoClassDefFoundError: org/apache/http/client/HttpClient\n"
        "\tat org.apache.hadoop.mapred.LocalJobRunner$Job.runTasks(LocalJobRunner.java:489)\n"
        "Caused by: java.lang.ClassNotFoundException: org.apache.http.client.HttpClient\n"
        "\tat java.net.URLClassLoader.findClass(URLClassLoader.java:381)\n"
    )
    found = analyze(hadoop_log=start * 3)
    assert len(found.earlier_attempts) == 2


@pytest.mark.parametrize(
    "line",
    [
        "usage: train.py [-h] [--batch_size BATCH_SIZE]\ntrain.py: error: unrecognized arguments: --local-rank={}\n",
        "distributed.nanny - WARNING - Worker exceeded 95% memory budget.  Restarting\n"
        "distributed.nanny - WARNING - Worker process 4069{} was killed by unknown signal\n"
        "distributed.nanny - WARNING - Restarting worker\n",
    ],
)
def test_a_message_that_ranks_and_retries_repeat_is_no_attempt(analyze: Analyze, line: str) -> None:
    assert analyze(train_log="".join(line.format(i) for i in range(3))).earlier_attempts == ()
