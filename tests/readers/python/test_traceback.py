"""Python tracebacks: plain, chained, per rank, in notebooks and boxes; and what a signature already says is not said twice."""

from collections.abc import Callable

import pytest

from forensics.model import Observation, Report
from forensics.readers import read as read_records
from forensics.readers.python import traceback
from forensics.scan import scan
from tests.conftest import text_source

PLAIN = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in main
    loss = model(x)
  File "/home/u/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1501, in _call_impl
    return forward_call(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
mypackage.errors.StrangeError: it did not work
"""


@pytest.fixture
def events(knowledge: object) -> Callable[[str], list[Observation]]:
    return lambda text: read_records(scan(text_source("log", text), knowledge, lambda _w: None), knowledge)  # type: ignore[arg-type]


def tracebacks(found: list[Observation]) -> list[Observation]:
    return [e for e in found if e.kind == "traceback"]


def test_the_exception_and_the_users_own_frame_are_told(events: Callable[[str], list[Observation]]) -> None:
    (event,) = tracebacks(events(PLAIN))
    assert event.cause == "code.exception"
    expected = {
        "exc_type": "mypackage.errors.StrangeError",
        "exc_message": "it did not work",
        "file": "/home/u/train.py",
        "line_no": 12,
        "function": "main",
    }
    assert {k: event.fields[k] for k in expected} == expected
    assert event.proofs[0].line == 7


@pytest.mark.parametrize(
    "prefix",
    [
        "[rank3]: ",
        "[default3]:",
        " 3: ",
        "2024-01-01 00:00:00,123 ",
        "Aug 22 03:00:07 node-7 train[77]: ",
        "2024-01-01T00:00:00.123456789Z ",
        "n07: ",
        "logs/r3.err:17:",
        "/aws/jobs algo-1-17 ",
        "    ",
        "[2024-01-01T00:00:00.123+0000] {subprocess.py:93} INFO - ",
    ],
)
def test_wrappers_do_not_hide_a_traceback(events: Callable[[str], list[Observation]], prefix: str) -> None:
    (event,) = tracebacks(events("".join(prefix + line + "\n" for line in PLAIN.splitlines())))
    assert event.fields["function"] == "main"


@pytest.mark.parametrize("keys", ["^C", "^C^C", "^\\"])
@pytest.mark.parametrize("prefix", ["0|train  | ", "logs/r3.err:17:", "    ", "08:00:00 train.1 | "])
def test_keys_that_the_terminal_shows_are_no_part_of_a_wrapper(
    events: Callable[[str], list[Observation]], prefix: str, keys: str
) -> None:
    first, *rest = PLAIN.splitlines()
    (event,) = tracebacks(events("".join(f"{prefix}{line}\n" for line in (keys + first, *rest))))
    assert event.fields["function"] == "main"


def test_loguru_marks_a_frame_and_shows_values(events: Callable[[str], list[Observation]]) -> None:
    text = """\
Traceback (most recent call last):

> File "/home/u/train.py", line 22, in <module>
    main()
    └ <function main at 0x7f>

  File "/home/u/train.py", line 14, in main
    loss = model(x)
           │     └ tensor([[1.]])

StrangeError: it did not work
"""
    (event,) = tracebacks(events(text))
    assert (event.fields["function"], event.fields["line_no"], event.fields["exc_type"]) == ("main", 14, "StrangeError")


def test_interleaved_ranks_are_told_apart(events: Callable[[str], list[Observation]]) -> None:
    one = [f"[rank0]: {line}" for line in PLAIN.splitlines()]
    two = [f"[rank1]: {line}" for line in PLAIN.replace("StrangeError", "OtherError").replace("main", "work").splitlines()]
    found = tracebacks(events("\n".join(line for pair in zip(one, two, strict=True) for line in pair)))
    assert [(e.fields["rank"], e.fields["function"], str(e.fields["exc_type"])[-10:]) for e in found] == [
        (0, "main", "rangeError"),
        (1, "work", "OtherError"),
    ]


def test_an_exception_being_handled_is_context_only(events: Callable[[str], list[Observation]]) -> None:
    text = (
        PLAIN + "\nDuring handling of the above exception, another exception occurred:\n\n" + PLAIN.replace("Strange", "Second")
    )
    assert [e.weight for e in tracebacks(events(text))] == ["hint", "strong"]
    text = PLAIN + "\nThe above exception was the direct cause of the following exception:\n\n" + PLAIN
    assert [e.weight for e in tracebacks(events(text))] == ["strong", "strong"]


def test_a_known_exception_speaks_for_itself(events: Callable[[str], list[Observation]]) -> None:
    text = PLAIN.replace("mypackage.errors.StrangeError: it did not work", "ModuleNotFoundError: No module named 'apex'")
    found = events(text)
    assert tracebacks(found) == []
    (event,) = [e for e in found if e.cause == "code.import" and e.weight != "hint"]
    assert event.fields["file"] == "/home/u/train.py"


def test_a_notebook_traceback_is_read_to_its_message(events: Callable[[str], list[Observation]]) -> None:
    text = (
        "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m\n"
        "\x1b[0;31mStrangeError\x1b[0m                              Traceback (most recent call last)\n"
        "Cell \x1b[0;32mIn[3], line 2\x1b[0m\n"
        "\x1b[1;32m      1\x1b[0m x = 1\n"
        "\x1b[0;32m----> 2\x1b[0m f(x)\n"
        "\n"
        "\x1b[0;31mStrangeError\x1b[0m: it did not work\n"
    )
    (event,) = tracebacks(events(text))
    assert event.fields["exc_type"] == "StrangeError"
    assert event.fields["exc_message"] == "it did not work"


OLD_NOTEBOOK = (
    "---------------------------------------------------------------------------\n"
    "StrangeError                              Traceback (most recent call last)\n"
    "{frames}"
    "StrangeError: it did not work\n"
)
OLD_CELL = "<ipython-input-20-6679c3901f12> in <module>\n      1 model = net()\n----> 3 out = model(x)\n\n"


@pytest.mark.parametrize(
    ("frames", "place"),
    [
        (OLD_CELL, ("Cell In[20]", 3)),
        (f"{OLD_CELL}~/seg/unet.py in forward(self, x)\n    160 \n--> 162         x, y = self.down(x)\n\n", ("~/seg/unet.py", 162)),
        (f"{OLD_CELL}~/.conda/envs/a/lib/python3.7/site-packages/torch/nn/modules/module.py in _call_impl(self, *input)\n"
         "--> 889             result = self.forward(*input)\n\n", ("Cell In[20]", 3)),
        (f"{OLD_CELL}rasterio/_err.pyx in rasterio._err.exc_wrap_pointer()\n\n", ("Cell In[20]", 3)),
        ("Input In [5], in <cell line: 2>()\n----> 2 read('a.csv')\n\nFile C:\\Users\\u\\anaconda3\\lib\\encodings\\cp1252.py:23, in decode(self)\n",
         ("Cell In[5]", 2)),
        ("/home/u/a.ipynb Cell 5 line 3\n---> 36 with open('x', 'w') as f:\n\n", ("/home/u/a.ipynb Cell 5", 36)),
    ],
)  # fmt: skip
def test_frames_of_older_notebooks_and_editors_have_their_line(
    events: Callable[[str], list[Observation]], frames: str, place: tuple[str, int]
) -> None:
    (event,) = tracebacks(events(OLD_NOTEBOOK.format(frames=frames)))
    assert (event.fields["file"], event.fields["line_no"]) == place


def test_compiled_code_of_cython_is_not_where_to_look(events: Callable[[str], list[Observation]]) -> None:
    frame = '  File "rasterio/_base.pyx", line 310, in rasterio._base.DatasetBase.__init__\n'
    (event,) = tracebacks(events(PLAIN.replace("mypackage.errors", f"{frame}mypackage.errors")))
    assert str(event.fields["file"]).endswith("/train.py")


def test_a_module_of_python_that_cython_compiled_is_a_librarys(events: Callable[[str], list[Observation]]) -> None:
    text = (
        'Traceback (most recent call last):\n  File "/srv/app/settings.py", line 89, in <module>\n    settings = Settings()\n'
        '  File "pydantic/main.py", line 362, in pydantic.main.BaseModel.__init__\n'
        "mypackage.errors.StrangeError: it did not work\n"
    )
    (event,) = tracebacks(events(text))
    assert (event.fields["file"], event.fields["line_no"]) == ("/srv/app/settings.py", 89)
    (event,) = tracebacks(events(text.replace(", in pydantic.main.BaseModel.__init__", ", in check")))
    assert event.fields["file"] == "pydantic/main.py"


def test_a_traceback_that_was_cut_is_no_record(events: Callable[[str], list[Observation]]) -> None:
    assert tracebacks(events("\n".join(PLAIN.splitlines()[:4]))) == []


def test_a_record_behind_a_traceback_that_was_cut_is_no_exception(events: Callable[[str], list[Observation]]) -> None:
    """A server goes on with its own records where a traceback was cut: `INFO:` has the form of an exception."""
    cut = 'Traceback (most recent call last):\n  File "/app/api.py", line 313, in upload\n    await db.flush()\n'
    assert not tracebacks(events(cut + 'INFO:     10.0.0.1:384 - "GET /stats HTTP/1.1" 422 Unprocessable Entity\n' * 2))


def test_a_traceback_as_the_message_of_traced_code_tells_its_place_and_words(events: Callable[[str], list[Observation]]) -> None:
    """TensorFlow prints it four blanks to the right; Keras names the layer above the words of the exception."""
    site = "/opt/py/lib/python3.9/site-packages/keras/src"
    (event,) = tracebacks(
        events(
            'Traceback (most recent call last):\n  File "/home/u/fit.py", line 3, in <module>\n    model.fit(x)\n'
            '  File "/tmp/__autograph_generated_file9f.py", line 15, in tf__train\n    retval_ = step()\n'
            f'TypeError: in user code:\n\n    File "{site}/training.py", line 2440, in train  *\n        return step()\n'
            '    File "/home/u/loss.py", line 12, in own_loss\n        return merge(a)\n\n'
            "    TypeError: Exception encountered when calling layer 'join' (type Concatenate).\n    \n    The parts are of two kinds.\n"
        )
    )
    assert (event.fields["file"], event.fields["line_no"]) == ("/home/u/loss.py", 12)
    assert str(event.fields["exc_message"]).endswith("'join' (type Concatenate). The parts are of two kinds.")
    assert str(event.fields["exc_message"]).startswith("Exception encountered")


@pytest.mark.parametrize(
    ("exception", "first"), [("socket.gaierror: [Errno -2] Name or service not known", 4), ("TimeoutError", 3)]
)
def test_the_words_of_an_exception_stand_before_the_code_that_names_its_cause(
    events: Callable[[str], list[Observation]], exception: str, first: int
) -> None:
    """A signature that knows a statement tells of the exception below it, if that one has words of its own."""
    log = (
        'Traceback (most recent call last):\n  File "/srv/server.py", line 7, in open\n'
        f"    for info in socket.getaddrinfo(self.ip, self.port, 0, socket.SOCK_STREAM):\n{exception}\n"
    )
    [known] = [e for e in events(log) if e.kind == "code.config/own_listen_address"]
    assert known.proofs[0].line == first


@pytest.mark.parametrize(("name", "told"), [("StrangeError", 1), ("KeyboardInterrupt", 0), ("CalledProcessError", 0)])
def test_the_heading_of_a_notebooks_traceback_that_was_cut_names_the_exception(
    events: Callable[[str], list[Observation]], name: str, told: int
) -> None:
    text = f"{name}                              Traceback (most recent call last)\nCell In[3], line 2\n----> 2 f(x)\n"
    found = tracebacks(events(text))
    assert [(e.cause, e.weight, e.fields["exc_type"]) for e in found] == [("code.exception", "strong", name)] * told


def test_a_traceback_that_lost_its_line_breaks_names_the_exception_at_its_end(events: Callable[[str], list[Observation]]) -> None:
    text = "Traceback (most recent call last): File “C:\\w\\a.py”, line 2, in load assert self.model is not None AssertionError\n"
    (event,) = tracebacks(events(text))
    assert (event.cause, event.weight, event.fields["exc_type"]) == ("code.exception", "strong", "AssertionError")


def test_launchers_say_that_and_not_why(events: Callable[[str], list[Observation]], analyze: Callable[..., Report]) -> None:
    wrapper = PLAIN.replace(
        "mypackage.errors.StrangeError: it did not work", "subprocess.CalledProcessError: Command 'x' returned 1"
    )
    assert all(e.weight == "hint" for e in tracebacks(events(wrapper)))
    assert "CalledProcessError" in traceback.REPORTERS


@pytest.mark.parametrize("exception", ["_queue.Empty", "EOFError", "horovod.common.exceptions.HorovodInternalError: it broke"])
def test_an_exception_that_tells_of_another_end_is_a_hint(events: Callable[[str], list[Observation]], exception: str) -> None:
    reported = PLAIN.replace("mypackage.errors.StrangeError: it did not work", exception)
    assert {e.weight for e in events(reported)} == {"hint"}


@pytest.mark.parametrize(
    "front",
    [
        "Exception ignored in: <function Pool.__del__ at 0x7f2a11223344>",
        "[W 2025-08-22 03:40:41.100 ServerApp] gpu_panel | error adding extension (enabled: True): not found",
        "Exception ignored in: \n<generator fit at 0x7f2a>",
    ],
)
def test_an_ignored_exception_ends_nothing(
    events: Callable[[str], list[Observation]], analyze: Callable[..., Report], front: str
) -> None:
    told = [e for e in events(f"epoch 3 done\n{front}\n{PLAIN}") if e.kind.startswith("traceback")]
    assert [(e.kind, e.cause, e.weight) for e in told] == [("traceback/ignored", None, "hint")]
    assert analyze(train_log=f"epoch 3 done\n{front}\n{PLAIN}").verdict != "crash"
    assert analyze(train_log=f"epoch 3 done\n{front}\n{PLAIN}epoch 4 done\nTraining completed.\n").verdict == "no_crash"
    assert analyze(train_log=f"epoch 3 done\n{PLAIN}").causes[0].id == "code.exception"


@pytest.mark.parametrize("label", ["", "0: ", "trainer-1  | "])
def test_what_an_ignored_exception_misses_is_no_cause(analyze: Callable[..., Report], label: str) -> None:
    lost = PLAIN.replace(
        "mypackage.errors.StrangeError: it did not work", "FileNotFoundError: [Errno 2] No such file: '/c/a.tmp'"
    )
    rows = f"epoch 3 done\nException ignored in atexit callback: <function save at 0x7f43>\n{lost}"
    report = analyze(train_log="".join(f"{label}{row}\n" for row in rows.splitlines()))
    assert report.verdict != "crash" and "data.missing" not in {c.id for c in report.causes}


@pytest.mark.parametrize(
    ("file", "cause"), [("wandb/sdk/internal/file_stream.py", None), ("wandb/agents/pyagent.py", "code.exception")]
)
def test_a_trackers_own_thread_ends_nothing_but_a_function_that_it_runs_does(
    events: Callable[[str], list[Observation]], file: str, cause: str | None
) -> None:
    frames = f'  File "/opt/py/threading.py", line 932, in run\n    run()\n  File "/opt/py/{file}", line 260, in act\n    act()\n'
    told = events(f"Exception in thread Thread-5:\nTraceback (most recent call last):\n{frames}KeyError: 'step'\n")
    assert cause in {e.cause for e in told}
    assert ("code.exception" in {e.cause for e in told}) == bool(cause)


@pytest.mark.parametrize(
    ("file", "cause"),
    [
        ("ts/metrics/metric_collector.py", None),
        ("streamlit/watcher/local_sources_watcher.py", None),
        ("torch/distributed/debug/_frontend.py", None),
        ("ts/model_loader.py", "code.import"),
    ],
)
def test_a_process_that_only_measures_the_host_ends_nothing(
    events: Callable[[str], list[Observation]], file: str, cause: str | None
) -> None:
    head = (
        "2025-12-05T08:04:15,298 [ERROR] Thread-1 org.pytorch.serve.metrics.MetricCollector - Traceback (most recent call last):"
    )
    frame = f'  File "/opt/py/site-packages/{file}", line 27, in <module>\n    collect_all()\n'
    told = events(f"{head}\n{frame}ModuleNotFoundError: No module named 'nvgpu'\n")
    assert cause in {e.cause for e in told}
    assert ("code.import" in {e.cause for e in told}) == bool(cause)


def test_a_message_that_is_a_traceback_tells_what_that_one_ends_with(events: Callable[[str], list[Observation]]) -> None:
    first = 'Traceback (most recent call last):\n  File "/home/u/main.py", line 9, in <module>\n    raise RuntimeError(text)\n'
    found = tracebacks(events(first + "RuntimeError: " + PLAIN))
    assert found[0].fields["exc_message"] == "mypackage.errors.StrangeError: it did not work"
    assert found[0].fields["file"] == "/home/u/train.py", "where it failed, not where it was raised again"


def test_a_rule_over_a_banner_ends_the_message(events: Callable[[str], list[Observation]]) -> None:
    banner = "-" * 74 + "\nMPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n"
    (event,) = tracebacks(events(PLAIN + banner))
    assert event.last_line == 7


def test_the_script_that_starts_a_package_is_not_the_users(events: Callable[[str], list[Observation]]) -> None:
    text = PLAIN.replace('"/home/u/train.py", line 12, in main', '"/home/u/venv/bin/papermill", line 8, in <module>')
    (event,) = tracebacks(events(text))
    assert (event.fields["line_no"], event.fields["function"]) == (1501, "_call_impl")


def test_a_runner_of_notebooks_reports_the_cells_exception(events: Callable[[str], list[Observation]]) -> None:
    cell = (
        "KeyError                                  Traceback (most recent call last)\nCell In[3], line 2, in prepare(rows)\n"
        "      1 rows = []\n----> 2 rows['label']\n\nKeyError: 'label'\n"
    )
    text = PLAIN.replace(
        "mypackage.errors.StrangeError: it did not work", "papermill.exceptions.PapermillExecutionError: \n" + cell
    )
    told = {e.weight: e.fields for e in tracebacks(events(text))}
    assert (told["strong"]["exc_type"], told["strong"]["file"], told["strong"]["line_no"]) == ("KeyError", "Cell In[3]", 2)


def test_a_traceback_is_as_old_as_the_line_in_front_of_it(events: Callable[[str], list[Observation]]) -> None:
    log = (
        "[2025-03-04 10:00:01 +0000] [71] [INFO] Booting worker with pid: 72\n"
        "[2025-03-04 10:00:09 +0000] [71] [CRITICAL] WORKER TIMEOUT (pid:72)\n"
        "[2025-03-04 10:00:09 +0000] [72] [ERROR] Error handling request GET /\n"
    )
    (event,) = tracebacks(events(log + PLAIN))
    assert event.stamp is not None
    assert event.stamp.wall is not None
    assert event.stamp.wall.second == 9


@pytest.mark.parametrize(
    ("exception", "doubted"),
    [("ValueError: not enough values to unpack (expected 2, got 1)", False), ("OSError: [Errno 5] Input/output error", True)],
)
def test_code_on_a_mounted_drive_is_no_sign_of_a_lost_mount(
    events: Callable[[str], list[Observation]], exception: str, doubted: bool
) -> None:
    told = events(
        'Traceback (most recent call last):\n  File "/content/drive/MyDrive/fit/opts.py", line 7, in parse\n'
        f"    k, v = s.split('=')\n{exception}\n"
    )
    assert any("drive_file" in e.fields for e in told) is doubted


FAILED_PRINT = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in main
    env.show()
NotImplementedError: no such mode

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "{file}", line 2105, in {function}
    stb = self.formatted()
  File "/v/lib/python3.10/site-packages/executing/executing.py", line 190, in only
    raise NotOneValueFound('Expected one value, found 0')
executing.executing.NotOneValueFound: Expected one value, found 0
"""


@pytest.mark.parametrize(
    ("file", "function", "weights"),
    [
        ("/v/site-packages/IPython/core/interactiveshell.py", "showtraceback", ["strong", "hint"]),
        ("/v/site-packages/IPython/core/ultratb.py", "structured_traceback", ["strong", "hint"]),
        ("/usr/lib/python3.10/traceback.py", "format_exception", ["strong", "hint"]),
        ("/home/u/report.py", "format_exception", ["hint", "strong"]),
    ],
)
def test_an_exception_that_came_while_another_was_printed_is_not_what_happened(
    file: str, function: str, weights: list[str], events: Callable[[str], list[Observation]]
) -> None:
    found = tracebacks(events(FAILED_PRINT.format(file=file, function=function)))
    assert [e.weight for e in sorted(found, key=lambda e: e.line)] == weights


@pytest.mark.parametrize(
    ("wrapper", "below", "told"),
    [
        (
            "joblib.my_exceptions.JoblibValueError: JoblibValueError",
            "ValueError: n is no parameter",
            ("ValueError", "n is no parameter"),
        ),
        ("a.JoblibKeyError", "KeyError: 'lr'", ("KeyError", "'lr'")),
        ("a.RemoteTypeError: RemoteTypeError", "TypeError: f() takes no x", ("TypeError", "f() takes no x")),
        ("a.JoblibValueError: the pool is gone", "ValueError: n is no parameter", ("a.JoblibValueError", "the pool is gone")),
        ("a.JoblibValueError: JoblibValueError", "Error: something else", ("a.JoblibValueError", "JoblibValueError")),
    ],
)
def test_a_wrapper_without_words_is_told_by_the_exception_it_is_named_after(
    wrapper: str, below: str, told: tuple[str, str], events: Callable[[str], list[Observation]]
) -> None:
    text = f'Traceback (most recent call last):\n  File "/u/a.py", line 3, in f\n    g()\n{wrapper}\n_____\n/u/b.py in g()\n\n{below}\n'
    (event,) = tracebacks(events(text))
    assert (event.fields["exc_type"], event.fields.get("exc_message", "")) == told


@pytest.mark.parametrize(
    ("message", "weight"),
    [
        ("Server process exited with code 1. Look into its log.", "hint"),
        ("The engine process has died with exit code 3", "hint"),
        ("Initialization failed. See root cause above.", "hint"),
        ("the process ran out of input", "strong"),
        ("exit code 1 is not allowed here", "strong"),
    ],
)
def test_a_message_that_tells_only_of_another_processs_end_is_a_hint(
    message: str, weight: str, events: Callable[[str], list[Observation]]
) -> None:
    text = f'Traceback (most recent call last):\n  File "/u/a.py", line 3, in f\n    g()\nException: {message}\n'
    assert [e.weight for e in tracebacks(events(text))] == [weight]


@pytest.mark.parametrize(
    ("said", "frame", "ends_nothing"),
    [
        ("EOFError: Ran out of input", "", True),
        ("_pickle.UnpicklingError: pickle data was truncated", "", True),
        ("AttributeError: Can't get attribute 'Batch' on <module '__main__'>", "", False),
        ("EOFError: Ran out of input", '  File "/home/u/train.py", line 4, in <module>\n    load()\n', False),
    ],
)
def test_a_spawned_process_whose_parent_was_gone_ends_nothing(
    events: Callable[[str], list[Observation]], said: str, frame: str, ends_nothing: bool
) -> None:
    told = events(
        "Traceback (most recent call last):\n"
        '  File "<string>", line 1, in <module>\n'
        '  File "/usr/lib/python3.10/multiprocessing/spawn.py", line 116, in spawn_main\n'
        "    exitcode = _main(fd, parent_sentinel)\n"
        '  File "/usr/lib/python3.10/multiprocessing/spawn.py", line 126, in _main\n'
        f"    self = reduction.pickle.load(from_parent)\n{frame}{said}\n"
    )
    assert any(e.kind == "traceback/ignored" for e in told) is ends_nothing


@pytest.mark.parametrize(
    ("between", "types"),
    [
        ("\n-- Process 2 terminated with the following error:\n", ["ValueError"]),
        ("\nstarting again\n", ["torch.multiprocessing.spawn.ProcessRaisedException", "ValueError"]),
    ],
)
def test_the_exception_of_a_spawned_process_is_told_once(
    events: Callable[[str], list[Observation]], between: str, types: list[str]
) -> None:
    inner = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 30, in step\n    go()\nValueError: no batch\n'
    outer = (
        'Traceback (most recent call last):\n  File "/home/u/train.py", line 92, in <module>\n    mp.spawn(worker, nprocs=4)\n'
        "torch.multiprocessing.spawn.ProcessRaisedException: \n"
    )
    assert [e.fields["exc_type"] for e in tracebacks(events(outer + between + inner))] == types
    gave_up = inner.replace("ValueError: no batch", "RuntimeError: Timed out waiting 28000ms for send operation to complete")
    causes = {e.cause for e in events(outer + between + gave_up)}
    assert ("code.exception" in causes, "distributed.timeout" in causes) == (len(types) > 1, True)


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("-- Process 2 terminated with the following error:", {"local_rank": 2}),
        ("Process SpawnProcess-3:", {"child_no": 2}),
        ("Process Process-1:", {"child_no": 0}),
        ("Process worker-3:", {"process_no": 3}),
        ("Process Process-1:2:", {}),
        ("Process worker:", {}),
    ],
)
def test_the_child_that_the_line_before_names(
    head: str, told: dict[str, int], events: Callable[[str], list[Observation]]
) -> None:
    (event,) = tracebacks(events(f"{head}\n{PLAIN}"))
    assert {k: v for k, v in event.fields.items() if k in ("local_rank", "child_no", "process_no")} == told


GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/home/u/shards.py", line 14, in <module>
  |     main()
  |   File "/home/u/shards.py", line 13, in main
  |     raise ExceptionGroup("shards failed", bad)
  | ExceptionGroup: shards failed (2 sub-exceptions)
  +-+---------------- 1 ----------------
{}    +---------------- 2 ----------------
    | OSError: [Errno 5] Input/output error
    +------------------------------------
"""
BARE = "    | ValueError: bad shard 7\n"
WHOLE = (
    '    | Traceback (most recent call last):\n    |   File "/home/u/shards.py", line 3, in check\n    |     raise ValueError(n)\n'
    + BARE
)


@pytest.mark.parametrize(("part", "line", "line_no"), [(BARE, 8, 13), (WHOLE, 11, 3)], ids=["bare", "with its own traceback"])
def test_of_an_exception_group_its_first_part_is_told(
    part: str, line: int, line_no: int, events: Callable[[str], list[Observation]]
) -> None:
    """Printed by Python 3.11 of parts with and without a traceback of their own."""
    (event,) = tracebacks(events(GROUP.format(part)))
    told = event.fields["exc_type"], event.fields["exc_message"], event.fields["line_no"], event.proofs[0].line, event.weight
    assert told == ("ValueError", "bad shard 7", line_no, line, "strong")


def test_code_that_names_a_lost_value_prints_none(events: Callable[[str], list[Observation]]) -> None:
    code = '    loss = nan if d is None else d["val"]\n'
    text = f"Traceback (most recent call last):\n  File \"/home/u/n.py\", line 4, in lookup\n{code}KeyError: 'val'\n"
    assert {e.cause for e in events(text)} == {"code.exception"}
    assert "numerics.nan" in {e.cause for e in events("step 4 loss = nan\n" + text)}
