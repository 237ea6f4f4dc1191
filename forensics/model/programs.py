"""What is read off the programs, notebooks and configurations that were given beside the logs. Nothing of them is executed."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from forensics.model.answers import Setting
from forensics.model.logs import Observation
from forensics.model.stacks import ThreadPlace

# The habits of a program that remedies may name, and what each one does to a run.
HABITS = {
    "kept_loss": "a tensor with its graph is kept beyond its step",
    "grown_array": "an array is copied whole at each step, to be one piece longer",
    "rebuilt_model": "models are built in a loop, and Keras keeps what belongs to each of them",
    "retraced": "a function is traced anew in a loop, and every trace is kept",
    "start_method": "the start method is set at top level, where every child sets it again",
    "no_main_guard": "processes are started at top level, where every child starts its own",
    "shared_without_lock": "threads write to one variable without a lock",
    "serial_map": "a map of tf.data runs one element at a time",
    "python_in_pipeline": "Python runs inside the input pipeline",
    "cached_dataset": "a data set of TensorFlow is cached in memory",
    "opencv_in_pipeline": "OpenCV runs inside the input pipeline of TensorFlow",
    "read_at_once": "a file is read whole into memory",
    "eager": "each step runs eagerly, without a graph",
    "left_the_tape": "a value is made a NumPy array while the tape records, so that no gradient goes through it",
    "growing_list": "a list is filled in a loop and never emptied",
    "growing_batch": "a generator fills a list that it never empties, so that each batch holds all before it",
    "unguarded_log": "a loss takes the logarithm or root of what can be 0",
    "stateful_layer": "a layer carries its state from batch to batch, so that all batches must have one size",
}


class Habit(Struct, frozen=True):
    """An error-prone pattern or a setting in a program: `kept_loss`, `grown_array` (HABITS), `batch_size`, ... `line`, `text`:
    the line of the file. `value`: its number, such as the size of a shuffle buffer."""

    kind: str
    source: str
    line: int
    text: str
    value: float | None = None

    @property
    def place(self) -> str:
        """File name and line: `train.py:14`."""
        return f"{self.source.rsplit('/', 1)[-1]}:{self.line}"


class Guarded(Struct, frozen=True):
    """The lines of a program that hold a lock: `first` has `with lock:`, `last` is the last line of its block."""

    lock: str
    function: str
    first: int
    last: int


class WrittenMap(Struct, frozen=True):
    """A mapping that a program writes out itself. `name`: what it is assigned to. `place`: `train.py:3`, `cell 2, line 1`."""

    name: str
    place: str
    statement: str


class Program(Struct, frozen=True):
    """One program or configuration file: its settings (`batch_size`), its habits, the frameworks that it imports with the line of
    the import, its lines that hold a lock, and the mappings that it writes out."""

    name: str
    settings: tuple[Habit, ...] = ()
    habits: tuple[Habit, ...] = ()
    frameworks: tuple[tuple[str, int], ...] = ()
    guarded: tuple[Guarded, ...] = ()
    maps: tuple[WrittenMap, ...] = ()


class LockHolder(Struct, frozen=True):
    """A thread in a dump that holds a lock for which another thread waits. `place`: file and line at which it is. `waits_for`:
    the lock that it waits for itself, or empty. `threads`: what each thread holds and waits for, in words. `circle`: a
    deadlock, each waits for the other."""

    lock: str
    place: str
    waits_for: str
    threads: str
    circle: bool


class PrintedStack(Struct, frozen=True):
    """The highest frame of a printed stack that names a library (or, of the `kernel`'s own stack, a module) that may be at fault.
    `line`: of the stack's first line. `function`: empty if the stack does not name it."""

    source: str
    line: int
    library: str
    function: str
    kernel: bool


class Layer(Struct, frozen=True):
    """One row of a model's summary: its class (`Conv2D`), parameters, and numbers in the output of one sample (0: unknown).
    `width`: of an output that is a sequence (samples, sequence, width), its last size; else 0."""

    name: str
    kind: str
    parameters: int
    outputs: int
    width: int = 0


class Architecture(Struct, frozen=True):
    """A model, as a summary of Keras or torchinfo prints it. `batch`: the batch size in its shapes, None for any.

    `weighted_outputs`: how many numbers all layers with parameters output for one sample, including layers without a row
    (torchinfo's `Forward/backward pass size`); 0 if unknown. `input_bytes`: of one input sample; 0 if unknown.
    """

    source: str
    line: int
    parameters: int
    trainable: int
    layers: tuple[Layer, ...] = ()
    batch: int | None = None
    weighted_outputs: int = 0
    input_bytes: int = 0


class StepPlan(Struct, frozen=True):
    """What XLA planned to hold for one step, in bytes: arguments (weights, states, the batch), results that share no memory with
    them, and the memory in work. `largest_bytes`, `largest`: the largest buffer and the line of a program that makes it."""

    source: str
    line: int
    arguments: int
    results: int
    in_work: int
    largest_bytes: int = 0
    largest: Habit | None = None


class DiskUse(Struct, frozen=True):
    """A row of df: how full the file system at `mount` was, in space or in `inodes`. `total`: as it is printed."""

    source: str
    line: int
    mount: str
    inodes: bool
    total: str
    percent: int


class FailedActivation(Struct, frozen=True):
    """A line on which a shell or conda says that an environment could not be activated. `said`: the part that says so."""

    source: str
    line: int
    text: str
    said: str


class JobContext(Struct, frozen=True):
    """Where and how the job ran, from the logs and the files given with them.

    `signs`: framework, scheduler, container and so on. `settings`: versions and devices. `run`: batch size and other settings
    that the logs print. `programs`: the given programs. `architecture`: the model, if a summary of it was printed.
    `last_reading`: the last report of the loss, if there were many. `profiled`: the line of a program with the most memory in a
    profile. `lock_holder`: the thread that holds the lock in a run that hangs, if a dump and the program show it. `stacks`: the
    stacks of native code and of the kernel that the logs print. `disks`: how full file systems were, from tables of df. `plan`:
    what XLA planned to hold for one step of a JAX program. `activations`: those of environments that failed. `saved`:
    the files of checkpoints and models that the run wrote, the last one at the end. `resumed`: the line that tells that
    the run went on from such a file. `limits`: what jobs asked the scheduler for and used of it; the text of each is the
    job's number. `reached`: how far the run had come, as a share of all of it. `elapsed_s`: how long the log of that run
    tells of it. `node_of`: the one node that the first lines of a log name, by the name of the log. `services`: of docker
    compose, by the name of the log. `threads`: where the threads of a process stood when its stacks were taken.
    `packages`: the releases of Python packages. `growth`: series of memory that grew to the end of the last attempt,
    strong ones first.
    """

    signs: tuple[Setting, ...] = ()
    settings: tuple[Setting, ...] = ()
    run: tuple[Habit, ...] = ()
    programs: tuple[Program, ...] = ()
    architecture: Architecture | None = None
    last_reading: Habit | None = None
    profiled: Habit | None = None
    lock_holder: LockHolder | None = None
    stacks: tuple[PrintedStack, ...] = ()
    disks: tuple[DiskUse, ...] = ()
    plan: StepPlan | None = None
    activations: tuple[FailedActivation, ...] = ()
    saved: tuple[Habit, ...] = ()
    resumed: Habit | None = None
    limits: tuple[Habit, ...] = ()
    reached: Habit | None = None
    elapsed_s: float = 0.0
    node_of: Callable[[str], str] = lambda _name: ""
    services: Mapping[str, str] = MappingProxyType({})
    threads: tuple[ThreadPlace, ...] = ()
    packages: Mapping[str, str] = MappingProxyType({})
    growth: tuple[Observation, ...] = ()

    @property
    def environment(self) -> dict[str, set[str]]:
        """The values of each fact of the environment. Frameworks and notebooks show Python if nothing tells of a language."""
        values: dict[str, set[str]] = {}
        for sign in self.signs:
            values.setdefault(sign.name, set()).add(sign.value)
        if not values.keys().isdisjoint(("framework", "notebook")):
            values.setdefault("language", {"python"})
        return values
