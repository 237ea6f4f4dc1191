"""How much of what programs say is known: messages out of their own sources, asked of the signatures. Run by hand.

    python -m benchmarks.producers FOLDER              what is known of the messages with which each program ends or gives up
    python -m benchmarks.producers FOLDER --unknown X  those of the program X of which nothing is known
    python -m benchmarks.producers FOLDER --draw       200 of them and 200 informative ones at random, to benchmarks/producers.csv
    python -m benchmarks.producers FOLDER --ask        what explain and analyze say of those that were drawn, to the same file

FOLDER holds the sources of the programs, a folder each (`forensics signatures check --sources` takes the same one). A message is what
a call in the source is given: `raise ValueError("...")`, `fatal("...")`, `dev_err(dev, "...")`, `logger.info("...")`. What the call adds
in front is added, and what varies is filled in. A message counts as known when a signature of a cause speaks on its line.
"""

import argparse
import ast
import csv
import functools
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

import forensics
from forensics.database import HEALTHY, Database, load, read_rows
from forensics.explain import explain

SEED = 20  # of the messages that are asked; those of the manifest are drawn with a seed of their own
DRAWN_SEED = 20261126
DRAWN = 200
ASKED = 150  # of a program with more messages so many, drawn at random, are asked
MANIFEST = Path(__file__).with_name("producers.csv")
COLUMNS = (
    "kind",
    "program",
    "file",
    "line",
    "message",
    "expected",
    "explain",
    "verdict",
    "analyze",
    "explain_right",
    "analyze_right",
)
TABLE = Path(__file__).with_name("producers-known.csv")
MIN_WORDS = 2
MAX_CALL_CHARS = 1_500
SOURCES = frozenset((".py", ".c", ".h", ".cc", ".cpp", ".cu", ".cuh", ".hpp", ".go", ".txt"))
STRING = re.compile(r'[a-zA-Z]?"((?:[^"\\\n]|\\.)*)"')
WORD = re.compile(r"[A-Za-z]{2,}")
LOGGERS = ("log", "logger", "logging", "LOG", "LOGGER", "_logger")


class Call(Struct, frozen=True):
    """`name`: the call, as a pattern. `line`: how a log shows its message. `near`: what must stand within 300 characters behind it,
    `within`: between its brackets."""

    name: str
    line: str = "{}"
    near: str = ""
    within: str = ""


class Program(Struct, frozen=True):
    """Where the messages of a program stand: `ends` are the calls with which it ends or gives up, `informs` those that only inform.

    A Python program has none: it ends with `raise` and informs with a logger's `info` and `debug`.
    """

    name: str
    folder: str
    under: tuple[str, ...] = ("",)
    ends: tuple[Call, ...] = ()
    informs: tuple[Call, ...] = ()


XID = "{xid}"  # in a line: the number of the constant that the call names
XID_NUMBERS = re.compile(r"(?m)^#define\s+(\w+)\s+\((\d+)\)")
PREFIX = re.compile(r'(?m)^#define pr_fmt\(fmt\)\s+(?:KBUILD_MODNAME\s*)?"([^"\n]*)"\s*fmt')


def _kernel(head: str, *calls: str) -> tuple[Call, ...]:
    return tuple(Call(c, f"[   12.345678] {head}{{}}") for c in calls)


_RAISES = (
    Call(r"TORCH_CHECK|AT_ERROR|TORCH_CHECK_WITH|C10_THROW_ERROR", "RuntimeError: {}"),
    Call(r"TORCH_CHECK_INDEX", "IndexError: {}"),
    Call(r"TORCH_CHECK_VALUE", "ValueError: {}"),
    Call(r"TORCH_CHECK_TYPE", "TypeError: {}"),
    Call(r"TORCH_CHECK_NOT_IMPLEMENTED", "NotImplementedError: {}"),
)
_XLA = tuple(
    Call(
        rf"(?:absl::|errors::|tsl::errors::|xla::)?{name}(?:Error|StrCat)?",
        f"jaxlib.xla_extension.XlaRuntimeError: {status}: {{}}",
    )
    for name, status in (
        ("InvalidArgument", "INVALID_ARGUMENT"),
        ("ResourceExhausted", "RESOURCE_EXHAUSTED"),
        ("Internal", "INTERNAL"),
        ("FailedPrecondition", "FAILED_PRECONDITION"),
        ("Unavailable", "UNAVAILABLE"),
        ("DeadlineExceeded", "DEADLINE_EXCEEDED"),
        ("Aborted", "ABORTED"),
    )
)
_PANICS = _kernel("", "pr_emerg|pr_alert|pr_crit") + _kernel("Kernel panic - not syncing: ", "panic")
_LOGS_GO = (
    Call(
        r"(?:logrus|log|log\.G\(ctx\)|log\.G\(context\.TODO\(\)\))\.(?:Info|Debug)f?",
        'time="2026-01-05T10:11:12Z" level=info msg="{}"',
    ),
)
_SYSTEMD_FILES = tuple(f"src/core/{f}.c" for f in ("service", "scope", "unit", "job", "crash-handler", "execute", "exec-invoke", "emergency-action", "socket", "mount"))  # fmt: skip
PROGRAMS = (
    Program("PyTorch", "torch", ("torch/distributed", "torch/cuda", "torch/utils/data", "torch/_dynamo", "torch/_inductor")),
    Program("PyTorch c10 and c10d", "pytorch", ("c10", "torch/csrc/distributed", "torch/csrc/cuda"), _RAISES, (Call(r"C10D_INFO|C10D_DEBUG", "[I105 10:11:12.345678901 socket.cpp:17] [c10d] {}"),)),
    Program("PyTorch aten", "pytorch", ("aten/src/ATen",), _RAISES),
    Program("JAX", "jax"),
    Program("XLA", "xla", ("xla/service", "xla/pjrt", "xla/stream_executor", "xla/client", "xla/tsl"), _XLA, (Call(r"V?LOG\((?:INFO|\d)\)\s*<<", "2026-01-05 10:11:12.345678: I xla/service/service.cc:17] {}"),)),
    Program("TensorFlow", "tensorflow", ("tensorflow/python",)),
    Program("transformers", "transformers"),
    Program("accelerate", "accelerate"),
    Program("DeepSpeed", "deepspeed", ("deepspeed", "op_builder")),
    Program("Lightning", "lightning"),
    Program("Megatron-LM", "megatron_core"),
    Program("vLLM", "vllm"),
    Program("Ray", "ray"),
    Program("Dask", "distributed"),
    Program("Jupyter server", "jupyter_server"),
    Program("Jupyter client", "jupyter_client"),
    Program("ipykernel", "ipykernel"),
    Program("papermill", "papermill"),
    Program("nbclient", "nbclient"),
    Program("XGBoost", "xgboost", ("python-package",)),
    Program("XGBoost core", "xgboost", ("src", "include"), (Call(r"LOG\(FATAL\)\s*<<", "xgboost.core.XGBoostError: [10:11:12] /src/gbm.cc:17: {}"),), (Call(r"LOG\((?:INFO|DEBUG)\)\s*<<", "[10:11:12] INFO: /src/gbm.cc:17: {}"),)),
    Program("LightGBM", "lightgbm", ("python-package",)),
    Program("LightGBM core", "lightgbm", ("src", "include"), (Call(r"Log::Fatal", "[LightGBM] [Fatal] {}"),), (Call(r"Log::(?:Info|Debug)", "[LightGBM] [Info] {}"),)),
    Program("NCCL", "nccl", ("src",), (Call("WARN", "gpu-04:4711:4799 [0] net.cc:17 NCCL WARN {}", r"return ncclI?\w*(?:Error|Argument|Usage)|ret = nccl\w+Error|goto fail|goto exit"),), (Call(r"INFO", "gpu-04:4711:4799 [0] NCCL INFO {}"),)),
    Program("NVIDIA kernel modules", "open-gpu-kernel-modules", ("kernel-open", "src/nvidia/arch", "src/nvidia/src/kernel/gpu"), (Call("nvErrorLog_va|nvErrorLog", "[   12.345678] NVRM: Xid (PCI:0000:3b:00): {xid}, {}"), Call(r"nv_printf", "[   12.345678] NVRM: {}", r"(?:goto (?:failed|err\w*|fail\w*)|return -E)")), (Call(r"NV_PRINTF\(\s*LEVEL_(?:INFO|NOTICE)\s*,", "[   12.345678] NVRM: {}"),)),
    Program("Slurm daemons", "slurm", ("src/slurmctld", "src/slurmd", "src/slurmdbd", "src/common", "src/interfaces", "src/plugins"), (Call("fatal|fatal_abort", "slurmd: fatal: {}"),), (Call("info|verbose|debug|debug2|debug3", "slurmd: {}"),)),
    Program("Slurm commands", "slurm", ("src/srun", "src/sbatch", "src/salloc", "src/api"), (Call("fatal", "srun: fatal: {}"), Call("error", "srun: error: {}", r"exit\(|return (?:SLURM_ERROR|-1)|rc = SLURM_ERROR")), (Call("info|verbose|debug|debug2|debug3", "srun: {}"),)),
    Program("Slurm step", "slurm", ("src/slurmd/slurmstepd",), (Call("error", "slurmstepd: error: {}", r"return (?:SLURM_ERROR|-1|rc|ESLURM\w+)|goto fail|exit\("),), (Call("info|verbose|debug|debug2|debug3", "slurmstepd: {}"),)),
    Program("Open MPI", "ompi", ("ompi", "opal", "oshmem")),
    Program("Open MPI's launcher", "prrte", ("src",)),
    Program("kubelet", "kubernetes", ("pkg/kubelet", "cmd/kubelet"), (Call(r"klog\.Fatalf?|klog\.Exitf?", "F0105 10:11:12.345678    4711 server.go:17] {}"), Call(r"(?:recorder|Recorder|recorder)\.(?:Event|Eventf|AnnotatedEventf|WithRefEvent)", "  Warning  Failed  2m  kubelet  {}", within="EventTypeWarning")), (Call(r"klog\.(?:Info|InfoS|Infof)|klog\.V\(\d\)\.Info[Sf]?", "I0105 10:11:12.345678    4711 kubelet.go:17] {}"),)),
    Program("containerd", "containerd", ("cmd/containerd", "internal/cri/server", "core/runtime"), (Call(r"log\.G\(ctx\)\.(?:WithError\(err\)\.)?Fatalf?", 'time="2026-01-05T10:11:12Z" level=fatal msg="{}"'), Call(r"fmt\.Errorf", 'E0105 10:11:12.345678    4711 pod_workers.go:17] "Error syncing pod, skipping" err="rpc error: code = Unknown desc = {}"')), _LOGS_GO),
    Program("Docker", "moby", ("daemon",), (Call(r"errors\.(?:New|Wrapf?|Errorf)|errdefs\.\w+\(errors\.(?:New|Errorf)|fmt\.Errorf", "docker: Error response from daemon: {}"),), _LOGS_GO),
    Program("systemd", "systemd", _SYSTEMD_FILES, (Call(r"log_(?:emergency|error)(?:_errno)?", "systemd[1]: {}"), Call(r"log_unit_(?:emergency|error)(?:_errno)?", "systemd[1]: job.service: {}")), (Call(r"log_(?:info|debug)(?:_errno)?", "systemd[1]: {}"), Call(r"log_unit_(?:info|debug)(?:_errno)?", "systemd[1]: job.service: {}"))),
    Program("systemd-oomd", "systemd", ("src/oom",), (Call(r"log_(?:error|warning|notice|info)(?:_errno)?|LOG_MESSAGE", "systemd-oomd[611]: {}", within=r"(?s)\A(?!.*dry-run).*[Kk]ill"),), (Call(r"log_debug(?:_errno)?", "systemd-oomd[611]: {}"),)),
    Program("earlyoom", "earlyoom", ("",), (Call("fatal", "earlyoom: {}"), Call("warn", "earlyoom: {}", within=r"(?s)\A(?!.*(?:Continuing anyway|instead|dryrun)).*(?:sending|[Ff]ailed|could not|Could not)")), (Call("info|debug", "earlyoom: {}"),)),
    Program("kernel mm", "linux", ("mm/oom_kill.c", "mm/memory-failure.c", "mm/memory.c", "mm/page_alloc.c", "mm/page_io.c", "mm/filemap.c"), (*_PANICS, *_kernel("", "pr_err")), _kernel("", "pr_info", "pr_debug")),
    Program("kernel block", "linux", ("block/blk-core.c", "block/blk-mq.c", "block/bio-integrity.c", "block/t10-pi.c", "block/bdev.c", "block/genhd.c", "block/blk-settings.c", "block/ioctl.c", "block/blk-zoned.c", "block/fops.c", "block/bio.c", "block/partitions/core.c"), (*_PANICS, *_kernel("", "pr_err|pr_err_ratelimited|printk_ratelimited")), _kernel("", "pr_info", "pr_debug")),
    Program("ext4", "linux", ("fs/ext4", "fs/jbd2"), (*_kernel("EXT4-fs error (device sda1): ext4_find_entry:1455: ", r"ext4_error(?:_inode|_err|_inode_err|_inode_block|_file)?|ext4_abort|EXT4_ERROR_INODE(?:_ERR|_BLOCK)?|EXT4_ERROR_FILE"), *_kernel("EXT4-fs (sda1): ", r"ext4_msg\(\s*\w+\s*,\s*KERN_(?:EMERG|ALERT|CRIT|ERR)\s*,"), *_kernel("JBD2: ", "pr_err")), _kernel("EXT4-fs (sda1): ", r"ext4_msg\(\s*\w+\s*,\s*KERN_(?:INFO|DEBUG|NOTICE)\s*,")),
    Program("xfs", "linux", ("fs/xfs",), _kernel("XFS (sda1): ", r"xfs_(?:emerg|alert|crit|err|alert_tag|buf_alert_ratelimited|emerg_ratelimited|alert_ratelimited|err_ratelimited)"), _kernel("XFS (sda1): ", r"xfs_(?:info|debug|notice|info_once)")),
    Program("btrfs", "linux", ("fs/btrfs",), _kernel("BTRFS error (device sda1): ", r"btrfs_(?:emerg|alert|crit|err)(?:_rl|_in_rcu|_rl_in_rcu)?"), _kernel("BTRFS info (device sda1): ", r"btrfs_(?:info|debug)(?:_rl|_in_rcu|_rl_in_rcu)?")),
    Program("nvme", "linux", ("drivers/nvme/host",), _kernel("nvme nvme0: ", r"dev_(?:crit|err|err_ratelimited)"), _kernel("nvme nvme0: ", r"dev_(?:info|dbg)")),
    Program("mlx5", "linux", ("drivers/net/ethernet/mellanox/mlx5/core",), _kernel("mlx5_core 0000:3b:00.0: health_care:17:(pid 611): ", r"mlx5_core_err(?:_rl)?"), _kernel("mlx5_core 0000:3b:00.0: ", r"mlx5_core_(?:info|dbg)")),
    Program("amdgpu", "linux", ("drivers/gpu/drm/amd/amdgpu",), (*_kernel("amdgpu 0000:3b:00.0: amdgpu: ", r"(?:dev|drm)_(?:err|crit)"), *_kernel("[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ", "DRM_ERROR"), *_kernel("amdgpu: ", "pr_err")), (*_kernel("amdgpu 0000:3b:00.0: amdgpu: ", r"(?:dev|drm)_(?:info|dbg)"), *_kernel("[drm] ", "DRM_INFO|DRM_DEBUG"))),
    Program("xe", "linux", ("drivers/gpu/drm/xe",), _kernel("xe 0000:3b:00.0: [drm] *ERROR* ", r"xe_gt_err|drm_err|xe_err|xe_gt_WARN"), _kernel("xe 0000:3b:00.0: [drm] ", r"xe_gt_(?:info|dbg)|drm_(?:info|dbg)|xe_(?:info|dbg)")),
)  # fmt: skip
HEAD = re.compile(r"[:=\]] ")  # ends the class of an exception, a place, a level
HELP_TEXTS = frozenset(("Open MPI", "Open MPI's launcher"))  # programs whose messages are sections of help-*.txt
HELP_FILES = re.compile(
    r"help-(?!.*(?:info|wrapper|prterun|prte\.txt|prted|pterm|display|placement|rtos|output|rankby|mapby|bindto|dash-host)).*\.txt"
)  # no texts of --help
HELP_HARMLESS = re.compile(
    r"(?i)\bwarning\b|(?:will|shall)\s+(?:continue|proceed|be\s+ignored|ignore|skip|contribute)|usage|^\s*-|available options|synopsis"
    r"|is disabled\.|\bfor better performance|impact\s+performance|falling back|does not contribute|syntax consists|environment variables:"
    r"|singletons will be started|only be reported at most once|limiting\s+to|you can try the following|not freed via|is a synonym"
    r"|requests that the\s+runtime|controlled by setting|^\s*Open SHMEM version|memory registration hooks were found|result could be incorrect"
)  # nothing ends, or what is said explains


class Message(Struct, frozen=True, order=True):
    """What a program can print, and where its text stands. `line`: as a log shows it; `template`: with {} for what varies."""

    program: str
    line: str
    template: str
    file: str
    number: int


def messages(program: Program, sources: Path, ends: bool) -> list[Message]:
    """The messages with which `program` ends (or else informs), each once."""
    root = sources / program.folder
    found: dict[str, Message] = {}
    header = root / "src/common/sdk/nvidia/inc/nverror.h"
    xids = dict(XID_NUMBERS.findall(header.read_text(encoding="utf-8"))) if header.is_file() else {}
    for path in _files(root, program.under):
        for line, template, number in _said(path, program, ends, xids):
            found.setdefault(line, Message(program.name, line, template, path.relative_to(root).as_posix(), number))
    return sorted(found.values())


def _files(root: Path, under: tuple[str, ...]) -> Iterator[Path]:
    for folder in under:
        place = root / folder
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            inside = path.relative_to(root).as_posix().lower()
            if path.suffix in SOURCES and path.is_file() and "test" not in inside and "example" not in inside:
                yield path


def _said(path: Path, program: Program, ends: bool, xids: dict[str, str]) -> Iterator[tuple[str, str, int]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if program.name in HELP_TEXTS:
        told = _help_text(text) if ends and HELP_FILES.fullmatch(path.name) else iter(())
    elif path.suffix == ".py":
        told = _python(text, ends)
    elif path.suffix == ".txt":
        told = iter(())
    else:
        told = _calls(text, program.ends if ends else program.informs, xids)
    for form, template, number in told:
        if len(WORD.findall(template)) >= MIN_WORDS:
            lines = form.replace("{}", filled(template), 1)
            yield (lines if program.name in HELP_TEXTS else lines.split("\n")[0].rstrip()), template, number


def _python(text: str, ends: bool) -> Iterator[tuple[str, str, int]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if ends and isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            name = node.exc.func
            kind = name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
            template = _template(node.exc.args[0])
            if template and kind[:1].isupper():
                yield f"{kind}: {{}}", template, node.lineno
        elif (
            not ends
            and isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("info", "debug")
        ):
            of = node.func.value
            name_of = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
            template = _template(node.args[0]) if node.args and name_of in LOGGERS else ""
            if template:
                yield "2026-01-05 10:11:12,345 INFO {}", template, node.lineno


def _template(node: ast.expr) -> str:
    """The text that an expression makes, {} for what varies; empty where it has no text of its own."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(v.value if isinstance(v, ast.Constant) and isinstance(v.value, str) else "{}" for v in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_template(left) or "{}") + (_template(right) or "{}")
        case ast.BinOp(left=left, op=ast.Mod()):
            return _template(left)
        case ast.Call(func=ast.Attribute(value=value, attr="format" | "strip")):
            return _template(value)
    return ""


def _calls(text: str, calls: tuple[Call, ...], xids: dict[str, str]) -> Iterator[tuple[str, str, int]]:
    fmt = PREFIX.search(text)
    prefix = fmt[1] if fmt else ""
    for call in calls:
        begins = call.name if call.name.endswith((",", "<<")) else rf"\b(?:{call.name})\("
        for hit in re.finditer(begins, text):
            inside, end = _arguments(text, hit.end(), stream=call.name.endswith("<<"))
            template = _of_arguments(inside)
            line = call.line.replace("] {}", f"] {prefix}{{}}") if prefix else call.line
            if XID in line:
                line = line.replace(XID, next((xids[a.strip()] for a in inside if a.strip() in xids), "95"))
            if call.within and not re.search(call.within, text[hit.end() : end]):
                continue
            if template and (not call.near or re.search(call.near, text[end : end + 300])):
                yield line, template, text.count("\n", 0, hit.start()) + 1


def _arguments(text: str, start: int, stream: bool) -> tuple[list[str], int]:
    """The arguments of the call whose bracket opened before `start`, and where it ends. A stream ends with its semicolon."""
    depth, at, begin, found = 0, start, start, []
    while at < min(len(text), start + MAX_CALL_CHARS):
        c = text[at]
        if c == '"':
            quoted = STRING.match(text, at)
            at = quoted.end() if quoted else at + 1
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (c == ";" or (c == "," and not stream)):
            found.append(text[begin:at])
            begin = at + 1
            if c == ";":
                return found, at
        elif depth == 0 and stream and text.startswith("<<", at):
            found.append(text[begin:at])
            at, begin = at + 2, at + 2
            continue
        at += 1
    return [*found, text[begin:at]], at


def _of_arguments(arguments: list[str]) -> str:
    """The message that the arguments make: from the first with a text of its own; a text without % is joined with all that follow."""
    texts = [
        i
        for i, a in enumerate(arguments)
        if re.fullmatch(r'(?>\s++|[A-Z]{2,}\w*+|[a-zA-Z]?"(?:[^"\\\n]|\\.)*+"|\\)++', a) and STRING.search(a)
    ]
    if not texts:
        inner = [
            STRING.findall(a) for a in arguments if re.search(r"(?:StrCat|Sprintf|StrFormat|Format|c10::str|Errorf|New)\(", a)
        ]
        return "".join(inner[0]) if inner and inner[0] else ""
    first = next((i for i in texts if " " in arguments[i].strip() or "%" in arguments[i]), texts[0])
    pieces = []
    for argument in arguments[first:]:
        said = "".join(STRING.findall(re.sub(r'"\s*PRI\w+\s*"', "d", argument))) if STRING.search(argument) else "{}"
        pieces.append(said)
        if "%" in said:
            break
    return "".join(pieces)


def _help_text(text: str) -> Iterator[tuple[str, str, int]]:
    """The sections of a help file of Open MPI: [topic], and the text that it prints."""
    for section in re.finditer(r"(?m)^\[([\w:. -]+)\]\n((?:(?!\[[\w:. -]+\]\n).*\n?)+)", text):
        said = "\n".join(line for line in section[2].split("\n") if not line.startswith("#")).strip()
        if said and not HELP_HARMLESS.search(said) and f"--{section[1]}" not in text:  # help on an option
            yield "{}", said, text.count("\n", 0, section.start()) + 1


def filled(text: str) -> str:
    """`text` with something where a program fills something in."""
    text = text.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'").replace("\\t", " ").strip()
    text = re.sub(r"\{[^{}]*\}|%\([\w]+\)s|%[-+ #0]*\d*(?:\.\*|\.\d+)?s|%[-+]?p\w{0,4}|%[vqw]|%\+v", "abc", text)
    text = re.sub(r"%[-+ #0]*(?:\d+|\*)?(?:\.\d+)?(?:l|ll|h|hh|z|t|j)?[xX]", "0x1f", text)
    text = re.sub(r"%[-+ #0]*(?:\d+|\*)?(?:\.\d+)?(?:l|ll|h|hh|z|t|j)?[diufegc]", "17", text)
    return (
        text.replace("%%", "%")
        .replace("sending abc to", "sending SIGTERM to")
        .replace("abc error, dev", "I/O error, dev")
        .replace("Out of memory: abc panic_on_oom", "Out of memory: system-wide panic_on_oom")
        .replace("abc noticed", "mpirun noticed")
        .replace("abc has exited", "mpirun has exited")
    )


def causes_of(database: Database, message: str) -> list[tuple[str, str]]:
    """(cause, signature or record) that `forensics explain` names for `message`, first the first; nothing for one that is harmless."""
    found = explain(message, database)
    if found.reading.startswith("words"):  # its signatures are hints of an ending's name; people ask with such words
        return list(dict.fromkeys((s.cause, s.id) for s, _ in database.matches(message) if s.cause != HEALTHY))
    spoken = {m.cause: m.id for m in found.matches if m.cause and m.cause != HEALTHY and not m.silenced}
    coded = {c for code in found.codes for c in code.causes} if found.reading.endswith("line of a log") else set()
    return [(t.cause.id, spoken.get(t.cause.id, "code")) for t in found.causes if t.cause.id in spoken or t.cause.id in coded]


def main() -> None:
    """Count, list or draw."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sources", type=Path)
    arguments.add_argument("--only", action="append", default=[], help="a program's name; all without")
    arguments.add_argument("--unknown", action="store_true", help="list what is not known")
    arguments.add_argument("--table", action="store_true", help=f"write {TABLE.name}")
    arguments.add_argument(
        "--draw", action="store_true", help=f"draw {DRAWN} of each kind with the seed {DRAWN_SEED}, to {MANIFEST.name}"
    )
    arguments.add_argument("--ask", action="store_true", help=f"fill in what is said of the messages of {MANIFEST.name}")
    given = arguments.parse_args()
    programs = [p for p in PROGRAMS if not given.only or p.name in given.only]
    if given.draw:
        draw(programs, given.sources)
    elif given.ask:
        ask()
    else:
        count(programs, given.sources, list_unknown=given.unknown, table=given.table)


def count(programs: list[Program], sources: Path, list_unknown: bool, table: bool) -> None:
    """Print for each program how many of its last messages are known."""
    database = load()
    rows = []
    for program in programs:
        told = messages(program, sources, ends=True)
        asked = random.Random(SEED).sample(told, ASKED) if len(told) > ASKED else told
        causes = [causes_of(database, m.line) for m in asked]
        known = sum(map(bool, causes))
        special = sum(any(not database.causes[c].fallback for c, _ in found) for found in causes)
        print(
            f"{program.name:24} {len(told):6} messages  {_share(known, len(asked))} known  {_share(special, len(asked))} with a deeper cause",
            flush=True,
        )
        if list_unknown:
            for message, found in zip(asked, causes, strict=True):
                if not found:
                    print(f"    {message.file}:{message.number}\t{message.line}")
        first = Counter(found[0][0] for found in causes if found)
        version = next(
            (
                p.read_text().split("\n")[0].strip()
                for n in ("VERSION", "VERSION.commit")
                if (p := sources / program.folder / n).is_file()
            ),
            "",
        )
        rows.append(
            (program.name, version, len(told), len(asked), known, special, "; ".join(f"{c} {n}" for c, n in first.most_common(6)))
        )
    if table:
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("program", "version", "messages", "asked", "known", "with_a_deeper_cause", "first_causes"))
            writer.writerows(rows)


def draw(programs: list[Program], sources: Path) -> None:
    """Draw as many messages of each program as of every other, and list them with their places; what they say is not listed.

    A message that the words of exceptions were learned from is not drawn.
    """
    chance = random.Random(DRAWN_SEED)
    rows = []
    for kind in ("ends", "informs"):
        told = {p.name: [m for m in messages(p, sources, ends=kind == "ends") if not is_learned_from(m.line)] for p in programs}
        queues = {name: chance.sample(found, len(found)) for name, found in told.items() if found}
        drawn: list[Message] = []
        while len(drawn) < DRAWN and any(queues.values()):
            drawn.extend(queue.pop() for queue in queues.values() if queue)
        rows += [(kind, m) for m in drawn[:DRAWN]]
    with MANIFEST.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kind", "program", "file", "line", "message"))
        writer.writerows((kind, m.program, m.file, m.number, m.line) for kind, m in rows)


@functools.cache
def _learned() -> frozenset[str]:
    return frozenset(row["message"] for row in read_rows("exception_messages"))


def is_learned_from(line: str) -> bool:
    """Does a message of signatures/tables/exception_messages.csv stand behind one of the heads of the line?"""
    said = line.rstrip('"')
    return any(said[head.end() :] in _learned() for head in HEAD.finditer(said))


def ask() -> None:
    """Fill in the manifest: the first cause of `explain` and of `analyze` (of the line alone), and the verdict.

    An informative message is answered rightly where no cause is named: `explain` finds no signature, and `analyze` puts "nothing
    crashed" first or says that no cause is proven, as no message that it knows stands there. What is said of the others is judged
    by reading before they are asked (`expected`: the cause, then others that would do, too); the last two columns compare.
    """
    database = load()
    rows = list(csv.DictReader(MANIFEST.open(encoding="utf-8", newline="")))
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            known = causes_of(database, row["message"])
            log = Path(folder, "a.log")
            log.write_text(row["message"] + "\n", encoding="utf-8")
            report = json.loads(forensics.analyze([log]).to_json())
            first = report["causes"][0]
            of_words = all(e["signature"] == "outcome" for e in first["evidence"])
            said = first["id"] if first["id"] == HEALTHY or not of_words else "words"
            row |= {"explain": known[0][0] if known else "", "verdict": report["verdict"], "analyze": said}
            if row["kind"] == "informs":
                row |= {"explain_right": str(int(not known)), "analyze_right": str(int(said in (HEALTHY, "words")))}
            elif wanted := (row.get("expected") or "").split():
                first = known[0][0] if known else HEALTHY
                row |= {
                    "explain_right": str(int(first in wanted)),
                    "analyze_right": str(int((said if said != "words" else HEALTHY) in wanted)),
                }
    with MANIFEST.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} %" if whole else "    - "


if __name__ == "__main__":
    main()
