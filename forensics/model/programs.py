"""What is read off the programs, notebooks and configurations that were given beside the logs. Nothing of them is executed."""

from msgspec import Struct

from forensics.model.answers import Setting

# The habits of a program that remedies may name, and what each one does to a run.
HABITS = {
    "kept_loss": "a tensor with its graph is kept beyond its step",
    "grown_array": "an array is copied whole at each step, to be one piece longer",
    "open_figures": "figures are made in a loop and never closed",
    "rebuilt_model": "models are built in a loop, and Keras keeps what belongs to each of them",
    "retraced": "a function is traced anew in a loop, and every trace is kept",
    "unbounded_cache": "a cache without a bound keeps every result",
    "start_method": "the start method is set at top level, where every child sets it again",
    "no_main_guard": "processes are started at top level, where every child starts its own",
    "unguarded_loader": "loader workers are started at top level",
    "fork_with_threads": "processes are forked in a program that has threads",
    "copied_list": "a data set holds its samples in Python lists, of which each worker comes to own a copy",
    "shared_without_lock": "threads write to one variable without a lock",
    "serial_map": "a map of tf.data runs one element at a time",
    "python_in_pipeline": "Python runs inside the input pipeline",
    "opencv_in_pipeline": "OpenCV runs inside the input pipeline of TensorFlow",
    "read_at_once": "a file is read whole into memory",
    "eager": "each step runs eagerly, without a graph",
    "left_the_tape": "a value is made a NumPy array while the tape records, so that no gradient goes through it",
}


class Remark(Struct, frozen=True):
    """A habit of a program that matters where something ended badly: `kept_loss`, `open_figures`, ... (HABITS).

    `line` of the file, `text`: the line as it stands. `value`: a number that belongs to it, as the size of a shuffle buffer.
    """

    kind: str
    source: str
    line: int
    text: str
    value: float | None = None

    @property
    def place(self) -> str:
        """`train.py:14`."""
        return f"{self.source.rsplit('/', 1)[-1]}:{self.line}"


class Program(Struct, frozen=True):
    """One program or configuration: `settings` by name (`batch_size`) with the lines that set them, its habits, and the
    frameworks that it imports with the line of the import."""

    name: str
    settings: tuple[Remark, ...] = ()
    habits: tuple[Remark, ...] = ()
    frameworks: tuple[tuple[str, int], ...] = ()


class Layer(Struct, frozen=True):
    """One row of a model's summary: its class (`Conv2D`), parameters, and numbers in the output of one sample (0: not told)."""

    name: str
    kind: str
    parameters: int
    outputs: int


class Architecture(Struct, frozen=True):
    """A model as a summary of Keras or torchinfo prints it. `batch`: that of the shapes, None where they are of any batch."""

    source: str
    line: int
    parameters: int
    trainable: int
    layers: tuple[Layer, ...] = ()
    batch: int | None = None


class Surroundings(Struct, frozen=True):
    """Where and how the job ran, as far as the logs and the files beside them tell.

    `signs`: framework, scheduler, container and so on; `settings`: versions and devices; `run`: batch size and the like that the
    logs print; `programs`: what lies beside them; `architecture`: the model, where a summary of it was printed.
    """

    signs: tuple[Setting, ...] = ()
    settings: tuple[Setting, ...] = ()
    run: tuple[Remark, ...] = ()
    programs: tuple[Program, ...] = ()
    architecture: Architecture | None = None

    @property
    def environment(self) -> dict[str, set[str]]:
        """The values of each fact of the environment."""
        told: dict[str, set[str]] = {}
        for sign in self.signs:
            told.setdefault(sign.name, set()).add(sign.value)
        return told
