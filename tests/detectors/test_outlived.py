"""What a program told and outlived is a hint; the same words at the end of a run stay proof."""

from collections.abc import Callable

import pytest

from forensics.model import Report

TRACE = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 7, in load\n    return json.loads(text)\n{}\n'
MISSING = TRACE.format("FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'")
STEPS = "".join(f"2026-11-21 08:00:{s:02},120 INFO train: step {s} loss 0.{s}\n" for s in range(20))
LATER = "".join(f"2026-11-21 08:01:{s:02},120 INFO train: step {20 + s} loss 0.{s}\n" for s in range(20))
Analyze = Callable[..., Report]


def verdict(analyze: Analyze, text: str) -> tuple[str, str]:
    report = analyze(train_log=text)
    return report.verdict, report.causes[0].id


@pytest.mark.parametrize(
    "front",
    [
        "2026-11-21 08:00:30,120 WARNING train: no cache\n",
        "2026-11-21 08:00:30,120 ERROR train: mirror 2 is gone, going on without it\n",
        "ERROR:    Exception in ASGI application\n",
        "--- Logging error ---\n",
        "[W 2026-11-21 12:05:15,086] Trial 0 failed with parameters: {} because of the following error: KeyError\n",
    ],
)
def test_a_traceback_that_was_told_mildly_is_no_crash(front: str, analyze: Analyze) -> None:
    assert verdict(analyze, STEPS + MISSING) == ("crash", "data.missing")
    after = "2026-11-21 08:00:31,120 INFO train: loaded\n"
    assert verdict(analyze, STEPS + front + MISSING + after)[0] != "crash"


@pytest.mark.parametrize("front", ["No checkpoint found, training from scratch\n", "using default settings\n"])
def test_how_a_run_begins_excuses_no_traceback_at_its_end(front: str, analyze: Analyze) -> None:
    assert verdict(analyze, STEPS + front + MISSING) == ("crash", "data.missing")


@pytest.mark.parametrize("level", ["INFO", "WARNING"])
def test_a_record_that_happens_to_stand_in_front_of_an_uncaught_exception_excuses_nothing(level: str, analyze: Analyze) -> None:
    front = f"2026-11-21 08:00:30,120 {level} train: no cache\n"
    assert verdict(analyze, STEPS + front + MISSING) == ("crash", "data.missing")
    died = "2026-11-21 08:00:31,120 ERROR launcher: rank 0 failed\n"
    assert verdict(analyze, STEPS + front + MISSING + died)[0] == "crash"


def test_a_log_that_goes_on_as_before_outlived_what_it_told(analyze: Analyze) -> None:
    front = "2026-11-21 08:00:30,120 ERROR train: cannot read the table\n"
    assert verdict(analyze, STEPS + front + MISSING) == ("crash", "data.missing")
    assert verdict(analyze, STEPS + front + MISSING + LATER)[0] != "crash"
    assert verdict(analyze, MISSING + LATER) == ("crash", "data.missing"), "nothing like it stood before, and no logger told it"
    assert verdict(analyze, front + MISSING + LATER)[0] != "crash", "a logger told it, and then its work"


def test_buffered_output_behind_a_traceback_proves_nothing(analyze: Analyze) -> None:
    """Standard output of a job in a pipe comes in blocks, the last of them behind the traceback on standard error."""
    steps = "".join(f"step {s} loss 0.{s}\n" for s in range(400))  # the first block was full
    assert verdict(analyze, steps + MISSING + steps[:999]) == ("crash", "data.missing")


def test_steps_before_a_teardown_are_no_way_on(analyze: Analyze) -> None:
    end = "2026-11-21 08:01:30,120 INFO train: shutting down\n2026-11-21 08:01:31,120 INFO train: exit status 1\n"
    assert verdict(analyze, STEPS + MISSING + LATER + end) == ("crash", "data.missing")


def test_a_warning_itself_is_a_hint_an_error_is_not(analyze: Analyze) -> None:
    said = "2026-11-21 08:00:30,120 {} train: batch 64 failed (DefaultCPUAllocator: can't allocate memory: you tried to allocate 9999999999 bytes.)\n"
    assert verdict(analyze, STEPS + said.format("ERROR"))[0] == "crash"
    assert verdict(analyze, STEPS + said.format("WARNING"))[0] != "crash"


def test_a_thread_that_the_program_can_do_without(analyze: Analyze) -> None:
    front = "Exception in thread previews:\n"
    trace = TRACE.format("TimeoutError: preview upload timed out")
    assert verdict(analyze, STEPS + front + trace + LATER + "closing\n")[0] != "crash"


def test_a_kill_by_the_kernel_is_not_weighed_by_what_other_processes_do(analyze: Analyze) -> None:
    from tests.hostile.inputs import OOM

    later = OOM.decode() + "[99999.000000] usb 1-1: new device\n" * 5
    assert analyze(dmesg_log=later).verdict == "crash"


BARS = "".join(f"Epoch 2:  {10 * n}%|###       | {n * 10}/100 [00:0{n}<00:09, 9.9it/s]\n" for n in range(1, 5))


def test_bars_that_move_on_show_a_program_that_lives(analyze: Analyze) -> None:
    assert verdict(analyze, STEPS + MISSING + BARS) == ("no_crash", "none.healthy")
    assert verdict(analyze, STEPS + MISSING + BARS.splitlines()[0])[0] == "crash", "one is drawn while a program ends"
    assert verdict(analyze, STEPS + MISSING + BARS + "rank 1 exited\n")[0] == "crash"


def test_a_download_that_is_tried_again_and_then_work(analyze: Analyze) -> None:
    tried = (
        "'(ReadTimeoutError(\"HTTPSConnectionPool(host='hub.example', port=443): Read timed out.\"), '(Request ID: 1)')' "
        "thrown while requesting HEAD https://hub.example/a/config.json\nRetrying in 1s [Retry 1/5].\n"
    )
    work = "".join(f"{{'loss': 1.{n}, 'learning_rate': 2e-05, 'epoch': 0.{n}}}\n" for n in range(1, 5))
    assert verdict(analyze, tried)[1] == "data.download"
    assert verdict(analyze, tried + work) == ("no_crash", "none.healthy")


def test_memory_that_ran_out_and_a_smaller_batch(analyze: Analyze) -> None:
    out = (
        "2026-11-21 08:00:30,120 WARNING train: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity; "
        "13.10 GiB already allocated; 1.20 GiB free; 13.60 GiB reserved in total by PyTorch)\n"
    )
    assert verdict(analyze, STEPS + out)[1].startswith("gpu_memory.")
    assert verdict(analyze, STEPS + out + LATER) == ("no_crash", "none.healthy")


def test_a_thread_that_ends_before_stamped_figures_of_training(analyze: Analyze) -> None:
    text = "One or more background workers are no longer alive. Exiting. Please check the print statements above"
    thread = "Exception in thread Thread-5 (results_loop):\n" + TRACE.format(f"RuntimeError: {text}")
    epoch = "2026-11-21 08:10:09.5: train_loss -0.135\n2026-11-21 08:10:09.6: val_loss -0.49\n2026-11-21 08:10:12.1: Epoch 1\n"
    assert verdict(analyze, thread)[1] == "process.worker_died"
    assert verdict(analyze, thread + epoch) == ("no_crash", "none.healthy")
    assert verdict(analyze, thread + epoch + "RuntimeError: " + text + "\n")[1] == "process.worker_died"


@pytest.mark.parametrize(
    "hint",
    [
        "Corrupt JPEG data: 41 extraneous bytes before marker 0xd9",
        "Premature end of JPEG file",
        "assert pid, 'can only join a child process'",
    ],
)
def test_a_hint_that_quiet_numbers_follow_is_noise(hint: str, analyze: Analyze) -> None:
    table = "| 5312 | 6m 30s | 26.5% |\n| 5376 | 6m 34s | 27.0% |\n"
    assert verdict(analyze, table + hint + "\n" + table) == ("no_crash", "none.healthy")
    assert verdict(analyze, table + hint + "\n" + table + "aborted at image 5377\n")[0] != "no_crash"


def test_an_exception_is_no_hint_that_numbers_make_noise_of(analyze: Analyze) -> None:
    end = "wandb: Find logs at: wandb/run-20260101_120000-1a2b\nwandb: Synced 5 files, 2 media\n"
    assert verdict(analyze, "ModuleNotFoundError: No module named 'scipy'\n" + end)[1] == "code.import"


def test_what_was_caught_and_told_is_noise_where_the_program_goes_on(analyze: Analyze) -> None:
    told = "Error fetching version info\n" + TRACE.format("TimeoutError: The read operation timed out")
    assert verdict(analyze, told + "Namespace(epochs=3)\n2026-11-21 17:56:13\nStarted!\n") == ("no_crash", "none.healthy")
    lost = "Exception in callback _ProactorBasePipeTransport._call_connection_lost(None)\nhandle: <Handle _Proactor>\n"
    reset = TRACE.format("ConnectionResetError: [WinError 10054] An existing connection was forcibly closed by the remote host")
    assert verdict(analyze, lost + reset) == ("no_crash", "none.healthy")
    assert verdict(analyze, reset)[1] != "none.healthy"


def test_alarms_that_a_training_works_on_behind_say_nothing(analyze: Analyze) -> None:
    front = "some parameters cannot be found in the checkpoint, they are invalid\n"
    steps = "".join(f"iter: {20 * i + 19}  total_loss: 1.{i}\n" for i in range(4))
    report = analyze(train_log=front + steps)
    assert (report.verdict, report.causes[0].id) == ("no_crash", "none.healthy")
    assert report.causes[0].probability > analyze(train_log=steps + front).causes[0].probability


def test_figures_behind_a_new_start_outlive_what_ended_the_first(analyze: Analyze) -> None:
    front = "".join(f"step {s} loss 0.{s}\n" for s in range(400))  # the first block was full
    few = front[:200]
    lost = "RuntimeError: [gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:1925\n"
    failed = front + MISSING + lost
    assert verdict(analyze, failed)[0] == "crash"
    assert verdict(analyze, failed + few)[0] == "crash", "they may have been held back"
    assert verdict(analyze, failed + "resumed from step 5\n" + few) == ("no_crash", "none.healthy")
    assert verdict(analyze, failed + "resumed from step 5\n" + few + MISSING)[0] == "crash", "and failed again"
    assert verdict(analyze, failed + "resumed from step 5\n")[0] == "crash", "nothing shows that it works"


def test_what_is_tried_again_and_then_works_is_over(analyze: Analyze) -> None:
    died = "(raylet) A worker died or was killed while executing a task by an unexpected system error.\n"
    again = "(raylet) Task shard failed. There are 3 retries remaining, so the task will be retried.\n"
    figures = "".join(f"epoch {s} loss 0.{s}\n" for s in range(4))
    assert verdict(analyze, died) == ("crash", "process.worker_died")
    assert verdict(analyze, died + figures)[1] == "process.worker_died"
    assert verdict(analyze, died + again + figures) == ("no_crash", "none.healthy")
    assert verdict(analyze, died + again + figures + died)[1] == "process.worker_died"


def test_a_bare_warning_counts_as_mild_where_the_run_goes_on(analyze: Analyze) -> None:
    bad = "json.decoder.JSONDecodeError: Expecting value: line 1 column 20 (char 19)\n"
    figures = "".join(f"epoch {s} loss 0.{s}\n" for s in range(4))
    assert verdict(analyze, bad)[0] == "crash"
    assert verdict(analyze, f"WARNING: record 999: {bad}" + figures) == ("no_crash", "none.healthy")


def test_what_a_program_logged_and_then_logs_its_work_is_over(analyze: Analyze) -> None:
    told = "2026-11-21 08:00:30,120 ERROR fit: Unable to allocate 256. TiB for an array with shape (9,) and data type float32\n"
    assert verdict(analyze, told)[1] == "host_memory.alloc_refused"
    assert verdict(analyze, told + LATER) == ("no_crash", "none.healthy")
    assert verdict(analyze, told + LATER + told)[1] == "host_memory.alloc_refused"
    held_back = "".join(f"step {s} loss 0.{s}\n" for s in range(20))
    assert verdict(analyze, told + held_back)[1] == "host_memory.alloc_refused"


def test_a_last_word_for_information_does_not_undo_that_it_went_on(analyze: Analyze) -> None:
    front = "2026-11-21 08:00:30,120 ERROR train: cannot read the table\n"
    end = "2026-11-21 08:02:00,120 INFO train: shut down\n"
    assert verdict(analyze, STEPS + front + MISSING + LATER + end)[0] != "crash"
    assert verdict(analyze, STEPS + front + MISSING + end)[0] == "crash"


def test_a_library_of_the_gpu_that_a_training_does_without_is_noise(analyze: Analyze) -> None:
    front = (
        "2026-11-21 08:00:30.120000: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library "
        "'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n"
    )
    epochs = "".join(f"Epoch {s}/3\n20/20 [====] - 1s 18ms/step - loss: 0.0{s}81 - val_loss: 0.0531\n" for s in (1, 2, 3))
    assert verdict(analyze, front + epochs) == ("no_crash", "none.healthy")
    assert verdict(analyze, front)[1] == "gpu_program.library"
    assert verdict(analyze, front + epochs + "Segmentation fault (core dumped)\n")[1] == "process.segfault"


def test_a_stream_that_showed_lines_before_its_first_block_was_full_holds_back_nothing(analyze: Analyze) -> None:
    steps = [f"item {s} of 90 is done\n" for s in range(1, 90)]
    front = "could not read one\n"
    assert verdict(analyze, "".join(steps[:9]) + front + MISSING) == ("crash", "data.missing")
    assert verdict(analyze, "".join(steps[:9]) + front + MISSING + "".join(steps[9:20]))[0] == "no_crash"
    assert verdict(analyze, front + MISSING + "".join(steps))[0] == "crash", "all of them may have been held back"


def test_records_of_a_logger_without_a_clock_come_in_order(analyze: Analyze) -> None:
    told = [f"INFO:fetch:got {n} of 24 shards\n" for n in range(0, 24, 3)]
    trouble = "ERROR:fetch:shard 17: once more\n" + TRACE.format("ConnectionResetError: [Errno 104] Connection reset by peer")
    end = "INFO:fetch:all shards are in place\n"
    assert verdict(analyze, "".join(told[:5]) + trouble + "".join(told[5:]) + end)[0] == "no_crash"
    assert verdict(analyze, "".join(told[:5]) + trouble + end)[0] != "no_crash", "nothing as before"


def test_what_was_left_behind_is_not_what_ended_the_program(analyze: Analyze) -> None:
    front = "2026-11-21 08:00:30,120 ERROR train: cannot read the table\n"
    end = TRACE.format("IndexError: pop from empty list")
    assert verdict(analyze, STEPS + front + MISSING + LATER + end) == ("crash", "code.index")


def test_a_loss_that_is_a_number_again_was_no_end(analyze: Analyze) -> None:
    told = "2026-11-21 08:00:30,120 WARNING train: found inf or nan in gradients at step 20, skipping the optimizer\n"
    lost = LATER.replace("loss 0.", "loss nan 0.")
    assert verdict(analyze, STEPS + told + LATER)[0] == "no_crash"
    assert verdict(analyze, STEPS + told + lost) == ("crash", "numerics.nan")


def test_a_service_that_goes_on_talking_saves_no_program(analyze: Analyze) -> None:
    told = "".join(f"distributed.scheduler - INFO - Register worker {n}\n" for n in range(9))
    lost = "[rank3]:[E1119 13:21:12.5 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n"
    assert verdict(analyze, told + lost + told)[1] == "distributed.timeout"


def test_what_a_scripts_shell_could_not_run_is_over_where_the_next_program_works(analyze: Analyze) -> None:
    told = "/var/spool/job00001/slurm_script: line 6: nvidia-smi: command not found\nno GPU, using the CPU\n"
    tried = "srun: error: node-1: task 0: Exited with exit code 1\n"
    assert verdict(analyze, told)[1] == "code.config"
    assert verdict(analyze, told + tried + LATER) == ("no_crash", "none.healthy")
    assert verdict(analyze, told + LATER + tried)[0] != "no_crash", "nothing works behind the last alarm"


def test_the_numbers_of_a_runner_in_front_of_all_lines_show_no_work(analyze: Analyze) -> None:
    told = (
        "some note of a debugger",
        "another of its notes",
        "Traceback (most recent call last):",
        '  File "<string>", line 1, in <module>',
    )
    after = ("KeyError: 'a'", "", "a note of the converter", "another one", "and a third")
    lines = "".join(f"{i}.4s\t{i}\t{text}\n" for i, text in enumerate((*told, *after), 6))
    assert verdict(analyze, lines) == ("crash", "code.exception")


def test_the_stages_of_a_script_are_no_work_that_goes_on(analyze: Analyze) -> None:
    script = "[1/2] fetching the index\ncurl: (6) Could not resolve host: datasets.example\n[2/2] training\n" + MISSING
    assert verdict(analyze, script) == ("crash", "data.download")


def test_what_a_program_says_in_words_of_its_own_and_then_works_is_over(analyze: Analyze) -> None:
    told = "strict loading failed: Error(s) in loading state_dict for Linear:\n\tsize mismatch for weight: copying a param with shape torch.Size([4, 5])\n"
    figures = "".join(f"Iter {s} | loss 0.{s}\n" for s in range(5))
    assert verdict(analyze, told)[1] == "code.shape"
    assert verdict(analyze, told + figures)[0] == "no_crash"
    assert verdict(analyze, told + figures + MISSING) == ("crash", "data.missing")


def test_a_fallback_of_its_own_is_no_lack_of_a_gpu(analyze: Analyze) -> None:
    told = "Could not use CUDA (RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU)"
    figures = "".join(f"Iter {s} | loss 0.{s}\n" for s in range(5))
    assert verdict(analyze, told + "\n")[1] == "gpu_driver.unavailable"
    assert verdict(analyze, told + ". Falling back to CPU, this will be slow.\n" + figures)[0] == "no_crash"
