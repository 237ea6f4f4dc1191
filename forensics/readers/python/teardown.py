"""Exceptions that end nothing: printed and then ignored, raised by clean-up code at the exit, or in a tracker's thread.

    Exception ignored in: <function Pool.__del__ at 0x7f...>                    a destructor
    Error in atexit._run_exitfuncs:                                            an exit hook
      File ".../multiprocessing/util.py", line 303, in _run_finalizers         a finalizer: the outermost frame says so
      File ".../multiprocessing/spawn.py", line 126, in _main                  a process that was to start when its parent ended
    Exception in thread ChkStopThr:                                            a thread of an experiment tracker
      File ".../ts/metrics/metric_collector.py", line 27, in <module>          a process that only measures the host

The program goes on without them, or is over: what they could not clean up is a consequence.
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region
from forensics.readers.python.frames import file_frame

# Texts that are printed before an exception that is ignored: by Python for a destructor or an exit hook, by Jupyter for an
# extension that failed to load, by Dask for a connection that it closes, by asyncio on Windows for a browser that disconnected.
IGNORED = (
    "Exception ignored in",
    "Exception ignored on",
    "Exception ignored while",
    "error adding extension (",
    "error linking extension ",
    "extension failed loading with message",
    "distributed.batched - INFO - Batched Comm Closed",
    (CALLBACK := "Exception in callback _ProactorBasePipeTransport._call_connection_lost"),
)
EXIT_HOOKS = ("Error in atexit._run_exitfuncs", "Error in sys.exitfunc")
# The outermost frame of clean-up code: of multiprocessing, of weakref's finalizers, of exit hooks, of destructors.
TEARDOWN_FUNCTIONS = (
    *("_run_finalizers", "_exit_function", "_run_exitfuncs", "_exitfunc", "__del__", "_python_exit", "_shutdown_all_queues"),
    *("_cleanup_on_exit", "_run_atexit", "_run_atexit_handlers"),
)
# Functions that print an exception: of IPython (core/interactiveshell.py, core/ultratb.py) and of CPython (traceback.py).
FORMATTERS = ("showtraceback", "structured_traceback", "print_exception", "format_exception", "format_exc", "print_exc")
FORMATTER_FILES = ("/IPython/core/interactiveshell.py", "/IPython/core/ultratb.py", "/traceback.py")
PATTERNS = patterns_of("teardown")
# Threads without a name of its own, and threads of other trackers. The first frame outside threading.py identifies them.
IN_THREAD = "in_thread"  # a fact of an exception that ended another thread than the main one
THREAD_PREFIX = "Exception in thread "  # only that thread ends; later lines show whether the program continues without it
SPAWN_FILES = ("/multiprocessing/spawn.py", "\\multiprocessing\\spawn.py", "<string>")  # `<string>` is what python -c was given
INPUT_WITHOUT_END = ("EOFError: Ran out of input", "UnpicklingError: pickle data was truncated")
THREADING_FILES = ("/threading.py", "\\threading.py")
# What a server starts again and again only to measure its host, and what looks at the files of each module that is loaded.
METRICS_FILES = (
    *("/ts/metrics/metric_collector.py", "/streamlit/watcher/local_sources_watcher.py"),
    "/torch/distributed/debug/_frontend.py",  # writes dumps from time to time
)
TRACKER_FOLDERS = ("/wandb/sdk/", "/wandb/internal/", "/comet_ml/", "/neptune/", "/clearml/", "/mlflow/")


def is_ignored(region: Region) -> bool:
    """Was the exception printed and then ignored, or raised in a tracker's thread? The line before the traceback shows it, or the
    second line before it if the message was broken into two lines."""
    *_, further, near = [Line(0, ""), Line(0, ""), *region.lines_before()]
    if any(said in near.text for said in IGNORED) or PATTERNS.tracker_thread.search(near.text):
        return True
    if CALLBACK in further.text and near.text.lstrip().startswith("handle:"):
        return True
    return IGNORED[0] in further.text and not further.text.rstrip().endswith(">")


def is_of_tracker(region: Region, frames: Sequence[str]) -> bool:
    """Did the exception end a thread of an experiment tracker? The run continues without that thread. `frames`: the lines that
    name a file, outermost first."""
    if not any(THREAD_PREFIX in line.text for line in region.lines_before()[-1:]):
        return False
    known = (f.file for text in frames if (f := file_frame(text)))
    first = next((file for file in known if not file.endswith(THREADING_FILES)), "").replace("\\", "/")
    return any(folder in first for folder in TRACKER_FOLDERS)


def is_of_metrics(frames: Sequence[str]) -> bool:
    """Did it end what only measures the host, or looks at modules? The server goes on without it."""
    outermost = file_frame(next(iter(frames), ""))
    return outermost is not None and outermost.file.replace("\\", "/").endswith(METRICS_FILES)


def is_of_clean_up(region: Region, frames: Sequence[str]) -> bool:
    """Was it raised by an exit hook, a finalizer or a destructor?"""
    hook = any(said in line.text for line in region.lines_before()[-1:] for said in EXIT_HOOKS)
    outermost = file_frame(next(iter(frames), ""))
    return hook or (outermost is not None and outermost.form == "traceback" and outermost.function.strip() in TEARDOWN_FUNCTIONS)


def is_of_lost_parent(frames: Sequence[str], said: str) -> bool:
    """Did a process that multiprocessing spawned get no whole input, so that none of its own lines ran? `said`: its exception."""
    found = [f for text in frames if (f := file_frame(text))]
    started = len(found) > 1 and all(f.file.endswith(SPAWN_FILES) for f in found) and found[-1].function.strip() == "_main"
    return started and said.endswith(INPUT_WITHOUT_END)


def is_of_formatting(frames: Sequence[str]) -> bool:
    """Did it come while another exception was printed? That one is what happened. `frames`: the lines that name a file."""
    found = (f for text in frames if (f := file_frame(text)) and f.form == "traceback")
    return any(f.function.strip() in FORMATTERS and f.file.replace("\\", "/").endswith(FORMATTER_FILES) for f in found)


def is_of_thread(frames: Sequence[str]) -> bool:
    """Did it end a thread other than the main one?"""
    outermost = file_frame(next(iter(frames), ""))
    started = outermost is not None and outermost.file.endswith(THREADING_FILES)
    return started and outermost is not None and outermost.function.startswith("_bootstrap")
