"""The threads of a rank: which one is at work, whether it stands in a collective call, and whether the process is a rank at all.

"MainThread"  wait (threading.py:320) < result (_base.py:451) < learn (train.py:94)      it waits for the other thread
"exchange_0"  all_reduce (distributed_c10d.py:2810) < mean (train.py:30)                  -> at work, in a collective call
"""

from collections.abc import Iterable

from forensics.model.stacks import ProcessStacks, ThreadStack

COLLECTIVE_FILES = ("torch/distributed/", "distributed_c10d.py", "c10d_logger.py", "libnccl", "libmpi.so")
WRAPPED_MODEL = "torch/nn/parallel/distributed.py"  # its innermost frame calls into C++, which makes the collective calls
LAUNCHER_FRAMES = (  # file and function in the stack of a process that starts the ranks and waits for them
    ("torch/distributed/elastic/agent/", ""),
    ("torch/distributed/launcher/", ""),
    ("torch/distributed/run.py", ""),
    ("torch/multiprocessing/spawn.py", "start_processes"),
    ("accelerate/commands/launch.py", ""),
    ("deepspeed/launcher/", ""),
)
CHILD_FILE = "multiprocessing/process.py"  # in the stack of a process that another Python process started, as a data loader's
SHOWN_FRAMES = 4  # innermost ones that say what a thread does
BACKWARD = "_engine_run_backward"  # another thread runs the hooks meanwhile
THREAD_FILES = ("threading.py", "queue.py", "concurrent/futures/_base.py")  # of a frame that waits for another thread
SPAWN_FILE, SPAWNED = "torch/multiprocessing/spawn.py", "_wrap"  # the outermost function of torch in a rank that it spawned


def at_work(stacks: ProcessStacks) -> ThreadStack | None:
    """The main thread; while it waits for the backward pass, the thread that runs a hook, and while it waits for another thread,
    the one that stands in a collective call."""
    main = stacks.main
    if main is None:
        return None
    rest = [t for t in stacks.threads if t is not main and t.frames]
    if _waits_for_gradients(main):
        return next((t for t in rest if t.name in ("", "Dummy-1")), main)
    if main.frames and main.frames[0].file.endswith(THREAD_FILES) and not in_collective(main):
        return next(filter(in_collective, rest), main)
    return main


def in_collective(thread: ThreadStack) -> bool:
    """Does the thread wait in a collective call?"""
    inner = thread.frames[:SHOWN_FRAMES]
    if is_launcher(thread):
        return False
    return inner[0].file.endswith(WRAPPED_MODEL) or any(part in frame.file for frame in inner for part in COLLECTIVE_FILES)


def collective_name(thread: ThreadStack) -> str:
    """What the thread called: the innermost function of the library's Python files."""
    return next((f.function for f in thread.frames if f.file.endswith(COLLECTIVE_FILES[1])), "a collective call")


def waits_in_call(thread: ThreadStack) -> bool:
    """Does the thread wait in a collective call, or for the backward pass, which makes those of gradients?"""
    return in_collective(thread) or (not thread.state.startswith("active") and _waits_for_gradients(thread))


def _waits_for_gradients(thread: ThreadStack) -> bool:
    """Does the thread stand in the backward pass, and not in a hook that it calls?"""
    at = next((n for n, f in enumerate(thread.frames[:SHOWN_FRAMES]) if f.function == BACKWARD), None)
    return at is not None and not any(f.file.endswith(".py") for f in thread.frames[:at])


def is_launcher(thread: ThreadStack) -> bool:
    """Is it the thread of a launcher, which waits for the ranks?"""
    inner = thread.frames[:SHOWN_FRAMES]
    return any(file in f.file and function in f.function for f in inner for file, function in LAUNCHER_FRAMES)


def is_ranks_own(one: ProcessStacks, known: ProcessStacks | None) -> bool:
    """Are they the stacks of a rank, and not of its launcher or of its helpers, which have the rank in their environment, too?
    A helper was started later than its rank. `known`: those of the same rank that were seen before."""
    if one.main is None or is_launcher(one.main):
        return False
    return known is None or _helper_order(one) <= _helper_order(known)


def _helper_order(one: ProcessStacks) -> tuple[bool, int]:
    frames = one.main.frames if one.main else ()
    return any(f.file.endswith(CHILD_FILE) for f in frames), one.pid or 0


def spawned_ranks(stacks: Iterable[ProcessStacks]) -> dict[int, int]:
    """The ranks of processes that torch.multiprocessing started on one host, by pid: it starts them in order, and tells none of
    them its number by the environment. Empty where stacks tell ranks, or are of several hosts."""
    given = list(stacks)
    own = {one.pid for one in given if one.pid is not None and one.main is not None and _is_spawned(one.main)}
    if any(one.rank is not None for one in given) or len({one.host for one in given if one.host}) > 1:
        return {}
    return {pid: rank for rank, pid in enumerate(sorted(own))}


def _is_spawned(main: ThreadStack) -> bool:
    """Does the thread run the function that each spawned rank runs, and not that of a helper, which has it below its own?"""
    at = next((n for n, f in enumerate(main.frames) if f.file.endswith(SPAWN_FILE) and f.function == SPAWNED), len(main.frames))
    return at < len(main.frames) and not any(f.file.endswith(CHILD_FILE) for f in main.frames[:at])
