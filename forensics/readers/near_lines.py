"""What the lines around the evidence tell of its place: the own line of code, the host, the rank, the device, the step, the cell.

Each producer's module reads its own lines; a fact that one of them has told is not told again by a later one. Here are those that
many producers print. Devices, which drivers and frameworks name by PCI address or number:

amdgpu 0000:0a:00.0: amdgpu: GPU reset begin!           -> pci_devices "PCI device 0000:0a:00.0"

Where the kernel's code was, and the task that ran, in the kernel's report of a fault.

RIP: 0010:ext4_writepages+0x1a/0x50      -> kernel_function ext4_writepages

What a line itself tells of the kernel: whether it wrote the line, and how long the machine ran then.

<6>[ 9120.213456] usb 1-1: new device          -> by the kernel, 9120.2 s after boot
Jun  2 10:05:31 gpu-04 kernel: Out of memory   -> by the kernel

The notebook, the cell and the kernel that lines of servers, of papermill and of editors name.

[I 2026-11-21 08:39:48.076 ServerApp] Saving file at /train.ipynb     -> notebook_file train.ipynb
Executing Cell 3---------------------------------------               -> cell 3

The step or the epoch at which a failure was printed, as a bar or a trainer's row beside it tells.

The line of a program that a message itself names, where no traceback tells one.

./run_splice.sh: line 3: syntax error near unexpected token `&'    ->  ./run_splice.sh:3
switch_button.go:21:2: DefaultLanguage redeclared in this block    ->  switch_button.go:21
kernel BUG at fs/ext4/inode.c:2700!                                ->  fs/ext4/inode.c:2700
FAILED tests/test_api.py::TestUser::test_name - AssertionError     ->  tests/test_api.py, test_name
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from forensics.data_files.named_parts import first_parts, patterns_of
from forensics.model import Fields, LinesAround, Proof
from forensics.readers.base import MAX_FAULT_LINES, MAX_LISTED_DEVICES, MAX_SENTENCE_LINES, MAX_TOLD_PROOFS, NEAR, Found
from forensics.readers.lanes.line_classes import is_cell_heading
from forensics.readers.platforms.places import (
    connection,
    go_frame,
    hadoop_job,
    hosts,
    is_library_frame,
    java_frame,
    named_file,
    path_before_error,
    pod,
    prompt_host,
    started_on,
    task_of_srun,
    worker,
)
from forensics.readers.platforms.shell_places import command, refused_program
from forensics.readers.progress.counters import OF_EPOCH, bar_counter, named_counters, positions
from forensics.readers.python.library_files import is_library_file
from forensics.readers.python.near_tracebacks import MAX_TRACEBACK_LINES, code_near, crash_stack, raised_in, tracebacks_near
from forensics.readers.torch.rank_places import rendezvous_endpoint, reporting_ranks, stalled_ranks, table, tagged_rank

GPUS = patterns_of("gpu places")


def devices(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The PCI addresses of the devices that the evidence is about; those that the same driver names next to it."""
    own = _addresses(p.text for p in proofs if p.signature == proofs[0].signature)
    driver = GPUS.driver.search(proofs[0].text)
    if not own and driver and "pci" not in facts:
        near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_SENTENCE_LINES]
        own = _addresses(text for text in near if driver["driver"] in text)
    if not own or (len(own) == 1 and "pci" in facts):
        return {}
    said = own[:MAX_LISTED_DEVICES]
    return {"pci_devices": f"PCI device {said[0]}" if len(said) == 1 else "PCI devices " + ", ".join(said)}


def _addresses(texts: Iterable[str]) -> list[str]:
    every = dict.fromkeys(m["pci"] for text in texts if GPUS.driver.search(text) for m in GPUS.pci.finditer(text))
    return [a for a in every if f"{a}.0" not in every]  # NVIDIA's driver leaves the function out


def asserting_kernel(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The line of a CUDA kernel whose assertion failed."""
    found = next(filter(None, (GPUS.assertion.search(p.text) for p in proofs[:MAX_TOLD_PROOFS])), None)
    return {"raised_in": f"{found['file']}:{found['line']}"} if found else {}


def gpus(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The GPU's number, if all that the evidence names is one; the operation of TensorFlow that failed."""
    found: Found = {}
    numbers = {n for p in proofs[:MAX_TOLD_PROOFS] for m in GPUS.gpu.finditer(p.text) for n in m.groups() if n}
    if "gpu" not in facts and numbers:
        found["gpu"] = ", ".join(sorted(numbers, key=int)[:MAX_LISTED_DEVICES])
    texts = (*(p.text for p in proofs[:MAX_TOLD_PROOFS]), *lines[at : at + MAX_TOLD_PROOFS])
    operation = next(filter(None, (GPUS.operation.search(t) for t in texts)), None)
    return found | ({"tf_operation": operation["operation"]} if operation else {})


KERNEL = patterns_of("kernel places")
HUNG_PANIC = "hung_task: blocked tasks"  # the watchdog's task ends the machine, not the one that hung


def kernel_place(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """Where the kernel's code was, and the task that ran, in its report of a fault; if a panic ended that, the first task that
    hung."""
    if HUNG_PANIC in proofs[0].text:
        hung = next(filter(None, map(KERNEL.hung_task.search, lines[:at])), None)
        return {"task": hung["task"], "pid": int(hung["pid"]), "cpu": ""} if hung else {}
    if not KERNEL.fault.search(proofs[0].text) or "kernel_function" in facts:
        return {}
    near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_FAULT_LINES]
    function = next(filter(None, map(KERNEL.kernel_function.search, near)), None)
    task = next(filter(None, map(KERNEL.on_cpu.search, near)), None)
    found: Found = {"kernel_function": function["function"]} if function else {}
    if {"task", "pid"} & facts.keys():
        return found
    return found | ({"running_task": f"{task['task']} (pid {task['pid']})"} if task else {})


def is_by_kernel(text: str) -> bool:
    """Did the kernel write the line?"""
    return KERNEL.kernel_line.search(text) is not None


def uptime_s(text: str) -> float | None:
    """The seconds from boot that the line counts; None if it counts none."""
    found = KERNEL.seconds_from_boot.search(text)
    return float(found[1]) if found else None


NOTEBOOK = patterns_of("notebooks places")


def notebook(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The notebook of a kernel, if the server speaks of one only; the cell that was executed, by papermill."""
    dead = any(word in p.text for p in proofs[:1] for word in ("DeadKernel", "Kernel died"))
    if not dead and "kernel_id" not in facts:
        return {}
    names = {m["notebook"].rpartition("/")[2] for m in map(NOTEBOOK.served_notebook.search, lines[:at]) if m}
    cells = [m["cell"] for m in map(NOTEBOOK.executed_cell.match, lines[:at]) if m]
    found: Found = {"notebook_file": names.pop()} if len(names) == 1 else {}
    return found | ({"cell": int(cells[-1])} if dead and cells and "cell" not in facts else {})


def cell_of_output(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The cell whose output the evidence is, by the heading above it; nothing for one without a count."""
    if "cell" in facts:
        return {}
    heading = next(filter(None, map(NOTEBOOK.output_heading.match, reversed(lines[: at + 1]))), None)
    return {"cell": int(heading["cell"])} if heading and heading["cell"].isdecimal() else {}


def editor_cell(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The cell and the kernel by the log of Visual Studio Code."""
    near = lines[max(0, at - MAX_SENTENCE_LINES) : at + MAX_SENTENCE_LINES]
    if "cell" in facts or not any(map(NOTEBOOK.editor_line.match, near)):
        return {}
    ended = next(filter(None, map(NOTEBOOK.editor_cell.search, lines[at : at + MAX_SENTENCE_LINES])), None)
    cell = ended or next(filter(None, map(NOTEBOOK.started_cell.search, lines[at::-1])), None)
    kernel = next(filter(None, map(NOTEBOOK.started_kernel.search, lines[at::-1])), None)
    found: Found = {"cell": int(cell["cell"])} if cell else {}
    return found | ({"kernel_name": kernel["name"]} if kernel else {})


JOB_STEP = "step"
POSITIONS = patterns_of("progress places")


def step_of_bar(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step of a progress bar in the evidence; the epoch, where the step is the end of each epoch's bar."""
    bar = bar_counter(proofs[0].text)
    found: Found = {"step_no": bar.now} if bar and bar.now and bar.of_steps and not _tells_step(facts) else {}
    step = facts.get("step_no")
    if step is not None and f"{step}/{step}" in proofs[0].text:
        above = reversed(lines[max(0, at - NEAR) : at + 1])
        epoch = next((c.now for text in above for c in named_counters(text) if c.unit == "epoch"), None)
        found |= {"epoch": epoch} if epoch is not None else {}
    return found


def progress(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step or the epoch of the first line of evidence, as a bar or a trainer's row tells it."""
    if _tells_step(facts) or any("epoch" in n for n in facts):
        return {}
    above = lines[max(0, at - 1) : at] if POSITIONS.bare_death.fullmatch(proofs[0].text) else ()  # a shell's word: right behind
    texts = (proofs[0].text, *above)
    found = first_parts("positions", texts)
    if "epoch" in found:
        return next((told for t in texts if "step_no" in (told := _counted(t))), {}) | {"epoch": found["epoch"]}
    if "step" in found:
        return {"step_no": int(found["step"])}
    return {} if bar_counter(proofs[0].text) else _printed_last(lines, at)


def _tells_step(facts: Fields) -> bool:
    """Is a step of the training known? A scheduler's `step` is a part of its job."""
    return any("step" in name and name != JOB_STEP for name in facts)


def _printed_last(lines: Sequence[str], at: int) -> Found:
    """The position that the program printed right before its traceback or its last word, in the same cell of a notebook."""
    top = min((f[0] for group in tracebacks_near(lines, at) for f in group if at - f[0] < MAX_TRACEBACK_LINES), default=at)
    above = reversed(lines[max(0, min(top, at) - NEAR - 1) : min(top, at)])
    own = takewhile(lambda text: not is_cell_heading(text.encode("utf-8", "replace")), above)
    return next(filter(None, map(_counted, own)), {})


def _counted(text: str) -> Found:
    """The epoch and the step that a line of a training counts: `Epoch 2 step 500 loss 1.9`, `Epoch: [2][128/500]`."""
    of_samples = POSITIONS.share_of_epoch.search(text)
    told = [c for c in positions(text) if (c.total or POSITIONS.loss.search(text)) and not (of_samples and c.unit == OF_EPOCH)]
    epochs = [c for c in told if c.unit == "epoch"]
    steps = [c for c in told if c.unit != "epoch" and (c.unit or epochs or (c.now and not c.is_complete))]
    found: Found = {"epoch": epochs[0].now} if epochs else {}
    return found | ({"step_no": steps[0].now} if steps else {})


PLACES = patterns_of("named place")
MAX_READ_PROOFS = 3  # chosen by hand: the first ones decide; what stands behind is further from the reason


def named_place(proofs: Sequence[Proof]) -> str:
    """`file:line` of the first line of evidence that names one, or of the lines around the first of it; empty where none does."""
    return next((place for text in _texts(proofs) for place in _places(text)), "")


def logged_at(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The line of code that wrote the record, as its logger adds it: where nothing nearer to the fault is known."""
    found = PLACES.logged_at.match(proofs[0].text)
    if found is None or PLACES.built_elsewhere.search(found["file"] or ""):
        return {}
    return {"logged_at": f"{found['file']}:{found['line']}" if found["file"] else f"{found['module']}:{found['module_line']}"}


def _texts(proofs: Sequence[Proof]) -> Iterator[str]:
    yield from (p.text for p in proofs[:MAX_READ_PROOFS])
    for near in proofs[:1]:
        yield from (line.text for line in (*near.after, *reversed(near.before)))


def _places(text: str) -> Iterator[str]:
    if is_library_frame(text) or PLACES.own_source.search(text):
        return
    if test := PLACES.pytest_test.match(text):
        yield f"{test['file']}, {test['test']}"
    for pattern in (PLACES.place, PLACES.shell_place, PLACES.makefile):
        for found in pattern.finditer(text):
            of_logger = text[: found.start()].endswith("{")
            if not of_logger and not is_library_file(found["file"]) and not PLACES.built_elsewhere.search(found["file"]):
                yield f"{found['file']}:{found['line']}"


def place_near(facts: Fields, proofs: Sequence[Proof], around: LinesAround) -> Found:
    """The facts on the place that the lines around the first of `proofs` tell and `facts` do not."""
    if not proofs:
        return {}
    lines, at = around(proofs[0])
    if not lines:
        lines, at = [proofs[0].text], 0
    found: Found = code_near(facts, lines, at)
    for read in PLACE_READERS:
        found |= {n: v for n, v in read(facts, proofs, lines, at).items() if n not in found}
    return found


PLACE_READERS: tuple[Callable[[Fields, Sequence[Proof], Sequence[str], int], Found], ...] = (
    *(asserting_kernel, raised_in, tagged_rank, reporting_ranks, stalled_ranks, worker, path_before_error, prompt_host),
    *(task_of_srun, pod, rendezvous_endpoint, hadoop_job, step_of_bar, devices, gpus, command),
    *(refused_program, crash_stack, table, hosts, named_file, connection, editor_cell, cell_of_output),
    *(kernel_place, progress, notebook, started_on, java_frame, go_frame, logged_at),
)
