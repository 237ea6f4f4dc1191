"""The library and the function that stand highest in the stacks of native code and of the kernel that a log prints.

    .../site-packages/numba/_nrt_python.cpython-36m.so(+0x302e)[0x7f52eb6a21ce]   -> numba/_nrt_python.cpython-36m.so
    [gpu07:1934] [ 1] /opt/hpc/lib/libfab.so.1(fab_send+0x3b)[0x7f13cc796603]  -> libfab.so.1, fab_send
    frame #1: at::native::embedding(...) + 0x51 (0x7f.. in libtorch_cpu.so)    -> libtorch_cpu.so, at::native::embedding
    uvm_page_tree_get_ptes_async+0x93/0x970 [nvidia_uvm]                       -> nvidia_uvm, uvm_page_tree_get_ptes_async
    C  [libtable.so+0x2f10]  TableEnv::row(_jobject*) const+0x94               -> libtable.so, TableEnv::row
    j  org.fit.gtk.Screens.open()V+6                                           -> org.fit.gtk.Screens, open

The C library, the run-time library of C++, the interpreter and the functions with which torch raises its errors are passed over:
they only print the stack. So are the kernel's frames marked `?`, which it is not sure of, and those of no module, and the
libraries and classes of a Java runtime. Formats: backtrace(3) of glibc, Open MPI and UCX, gdb, backward-cpp, torch's C++ traces,
dump_stack of the kernel, native and Java frames of HotSpot's error files.
"""

from collections.abc import Iterable, Iterator

from forensics.data_files.named_parts import patterns_of
from forensics.model import PrintedStack, Region, Scan, Trigger

MAX_FRAMES = 60  # lines of a stack that are read; the fault stands near its top
TRIGGER = Trigger("printed_stacks", of="printed stacks", before=12, after=MAX_FRAMES)
PATTERNS = patterns_of("printed stacks")
FORMATS = ("glibc", "torch", "backward", "gdb", "kernel", "hotspot", "java")
MANGLED = "_Z"  # a name of C++ that nobody reads


def printed_stacks(scans: Iterable[Scan]) -> tuple[PrintedStack, ...]:
    """The stacks in which a library or a module can be named, in the order of the logs."""
    regions = ((scan, r) for scan in scans for r in scan.regions.get(TRIGGER.kind, ()))
    return tuple(stack for scan, region in regions for stack in _of(scan, region))


def _of(scan: Scan, region: Region) -> Iterator[PrintedStack]:
    lines = list(region.lines())
    here = next(i for i, line in enumerate(lines) if line.number == region.number)
    numbered = PATTERNS.number.search(region.text) is not None
    upwards = numbered and here > 0 and "#1 " in lines[here - 1].text  # the innermost frame is printed last
    raised: PrintedStack | None = None  # where an error was only made: better than nothing
    for line in reversed(lines[: here + 1]) if upwards else lines[here:]:
        found = PATTERNS.native_frame.search(line.text)
        if found is None or found["unsure"]:
            continue
        form = next(f for f in FORMATS if found[f])
        library, function = found[form].rpartition("/")[2], (found[f"{form}_function"] or "").strip()
        if PATTERNS.passed_over.match(library):
            continue
        library = found[form].rpartition("-packages/")[2] if "-packages/" in found[form] else library
        name = "" if function.startswith(MANGLED) else function.partition("(")[0]
        stack = PrintedStack(scan.source.name, scan.source.number_of(region.number), library, name, form == "kernel")
        if not PATTERNS.raising.match(function):
            yield stack
            return
        raised = raised or stack
    if raised:
        yield raised
