"""How much of what programs say is known: messages out of their own sources, asked of the signatures. Run by hand.

    python -m benchmarks.producers FOLDER            what is known of the messages with which each program ends or gives up
    python -m benchmarks.producers FOLDER --draw     200 of them and 200 informative ones at random, as benchmarks/producers.csv lists

FOLDER holds the sources of the programs, a folder each (`forensics signatures check --sources` takes the same one). A message is what
a call in the source is given: `raise ValueError("...")`, `fatal("...")`, `dev_err(dev, "...")`, `logger.info("...")`; what the call adds
in front is added, what varies is filled in. A message counts as known when a signature of a cause speaks on its line.
"""

import argparse
import csv
import random
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from forensics.database import HEALTHY, Database, load

SEED = 20
DRAWN = 200
MANIFEST = Path(__file__).with_name("producers.csv")
MIN_WORDS = 3
STRING = r'((?:"(?:[^"\\\n]|\\.)*"\s*(?:PRI\w+\s*)?)+)'
PY_STRING = r"""((?:[rf]{0,2}"(?:[^"\\\n]|\\.)*"\s*|[rf]{0,2}'(?:[^'\\\n]|\\.)*'\s*)+)"""


class Program(Struct, frozen=True):
    """Where the messages of a program stand. `ends`, `informs`: calls, as patterns; `line`: how its log shows one."""

    name: str
    folder: str
    under: tuple[str, ...]
    ends: str
    informs: str
    line: str = "{}"


KERNEL = r"(?:pr_(?:emerg|alert|crit|err)|panic|dev_(?:emerg|alert|crit|err)|printk\(KERN_(?:EMERG|ALERT|CRIT|ERR))"
QUIET = r"(?:pr_(?:info|debug)|dev_(?:info|dbg)|printk\(KERN_(?:INFO|DEBUG))"
PYTHON, PYTHON_QUIET = "raise", r"(?:log|logger|logging|LOG|_logger|self\.log)\.(?:info|debug)"
PROGRAMS = (
    Program("PyTorch", "torch", ("torch/distributed", "torch/cuda", "torch/utils/data", "torch/_dynamo", "torch/_inductor"), PYTHON, PYTHON_QUIET),
    Program("JAX", "jax", ("",), PYTHON, PYTHON_QUIET),
    Program("TensorFlow", "tensorflow", ("tensorflow/python",), PYTHON, PYTHON_QUIET),
    Program("transformers", "transformers", ("",), PYTHON, PYTHON_QUIET),
    Program("accelerate", "accelerate", ("",), PYTHON, PYTHON_QUIET),
    Program("DeepSpeed", "deepspeed", ("",), PYTHON, PYTHON_QUIET),
    Program("Lightning", "lightning", ("",), PYTHON, PYTHON_QUIET),
    Program("Megatron-LM", "megatron_core", ("",), PYTHON, PYTHON_QUIET),
    Program("vLLM", "vllm", ("",), PYTHON, PYTHON_QUIET),
    Program("Ray", "ray", ("",), PYTHON, PYTHON_QUIET),
    Program("Dask", "distributed", ("",), PYTHON, PYTHON_QUIET),
    Program("Jupyter server", "jupyter_server", ("",), PYTHON, PYTHON_QUIET),
    Program("Jupyter client", "jupyter_client", ("",), PYTHON, PYTHON_QUIET),
    Program("ipykernel", "ipykernel", ("",), PYTHON, PYTHON_QUIET),
    Program("papermill", "papermill", ("",), PYTHON, PYTHON_QUIET),
    Program("nbclient", "nbclient", ("",), PYTHON, PYTHON_QUIET),
    Program("XGBoost", "xgboost", ("",), PYTHON, PYTHON_QUIET),
    Program("LightGBM", "lightgbm", ("",), PYTHON, PYTHON_QUIET),
    Program("NCCL", "nccl", ("src",), r"WARN", r"INFO\(\s*[\w|]+\s*,", "host:1:2 [0] NCCL WARN {}"),
    Program("NVIDIA kernel modules", "open-gpu-kernel-modules", ("kernel-open", "src/nvidia"), r"NV_PRINTF\(\s*LEVEL_(?:ERROR|FATAL)\s*,|nv_printf\(\s*NV_DBG_ERRORS\s*,", r"NV_PRINTF\(\s*LEVEL_(?:INFO|NOTICE)\s*,", "kernel: NVRM: {}"),
    Program("Slurm", "slurm", ("src",), r"\bfatal", r"\b(?:info|verbose|debug[23]?)", "slurmstepd: error: {}"),
    Program("Open MPI", "ompi", ("ompi", "opal"), r"opal_show_help|BTL_ERROR\(|MPIR_ERRORS_FATAL", r"opal_output_verbose\(\s*\d+\s*,\s*\w+\s*,"),
    Program("containerd", "containerd", ("cmd", "core", "internal"), r"log\.G\(ctx\)\.(?:WithError\(err\)\.)?(?:Fatal|Error)f?|errors\.New", r"log\.G\(ctx\)\.(?:Info|Debug)f?", 'level=error msg="{}"'),
    Program("Docker", "moby", ("daemon", "cmd"), r"log\.G\((?:ctx|context\.TODO\(\))\)\.(?:WithError\(err\)\.)?(?:Fatal|Error)f?", r"log\.G\(ctx\)\.(?:Info|Debug)f?", 'level=error msg="{}"'),
    Program("systemd", "systemd-stable", ("src/core", "src/oom"), r"log_(?:unit_)?(?:emergency|error)(?:_errno)?\((?:[\w>-]+,\s*){0,2}", r"log_(?:unit_)?(?:info|debug)(?:_errno)?\((?:[\w>-]+,\s*){0,2}", "systemd[1]: {}"),
    Program("earlyoom", "earlyoom", ("",), r"\b(?:fatal\(\s*\d+\s*,|warn\()", r"\b(?:info|debug)", "earlyoom: {}"),
    Program("kernel mm", "linux", ("mm",), KERNEL, QUIET, "kernel: [   12.345678] {}"),
    Program("kernel block", "linux", ("block",), KERNEL, QUIET, "kernel: [   12.345678] {}"),
    Program("ext4", "linux", ("fs/ext4", "fs/jbd2"), r"ext4_(?:error|abort)(?:_inode)?\(\s*\w+\s*,|ext4_msg\(\s*\w+\s*,\s*KERN_(?:CRIT|ERR)\s*,", r"ext4_msg\(\s*\w+\s*,\s*KERN_(?:INFO|DEBUG)\s*,", "kernel: EXT4-fs error (device sda1): {}"),
    Program("xfs", "linux", ("fs/xfs",), r"xfs_(?:emerg|alert|crit|err)\(\s*[\w>-]+\s*,", r"xfs_(?:info|debug|notice)\(\s*[\w>-]+\s*,", "kernel: XFS (sda1): {}"),
    Program("btrfs", "linux", ("fs/btrfs",), r"btrfs_(?:emerg|alert|crit|err)(?:_rl)?\(\s*[\w>-]+\s*,", r"btrfs_(?:info|debug)(?:_rl)?\(\s*[\w>-]+\s*,", "kernel: BTRFS error (device sda1): {}"),
    Program("nvme", "linux", ("drivers/nvme/host",), r"dev_(?:crit|err|warn)\(\s*[\w.>-]+\s*,", r"dev_(?:info|dbg)\(\s*[\w.>-]+\s*,", "kernel: nvme nvme0: {}"),
    Program("mlx5", "linux", ("drivers/net/ethernet/mellanox/mlx5/core",), r"mlx5_core_err(?:_rl)?\(\s*[\w>-]+\s*,", r"mlx5_core_(?:info|dbg)\(\s*[\w>-]+\s*,", "kernel: mlx5_core 0000:3b:00.0: {}"),
    Program("amdgpu", "linux", ("drivers/gpu/drm/amd/amdgpu",), r"(?:DRM_ERROR\(|(?:dev|drm)_err\(\s*[\w.>-]+\s*,)", r"(?:DRM_(?:INFO|DEBUG)\(|dev_(?:info|dbg)\(\s*[\w.>-]+\s*,)", "kernel: amdgpu 0000:3b:00.0: amdgpu: {}"),
    Program("xe", "linux", ("drivers/gpu/drm/xe",), r"(?:xe_gt_err|drm_err|xe_err)\(\s*[\w.>&-]+\s*,", r"(?:xe_gt_(?:info|dbg)|drm_(?:info|dbg))\(\s*[\w.>&-]+\s*,", "kernel: xe 0000:3b:00.0: [drm] *ERROR* {}"),
)  # fmt: skip


class Message(Struct, frozen=True, order=True):
    """A line that a program can print, and where its text stands."""

    program: str
    line: str
    file: str
    number: int


def messages(program: Program, sources: Path, calls: str) -> list[Message]:
    """The messages that `calls` of `program` print, each once."""
    root = sources / program.folder
    found: dict[str, Message] = {}
    for folder in program.under:
        for path in sorted((root / folder).rglob("*")):
            if (
                path.suffix in (".py", ".c", ".h", ".cc", ".cu", ".go")
                and path.is_file()
                and "test" not in path.as_posix().lower()
            ):
                for line, number in _said(path, program, calls):
                    found.setdefault(line, Message(program.name, line, path.relative_to(root).as_posix(), number))
    return sorted(found.values())


def _said(path: Path, program: Program, calls: str) -> Iterator[tuple[str, int]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    python = path.suffix == ".py"
    if python and calls == "raise":
        form = rf"\braise (\w*(?:Error|Exception|Exit|Timeout|Interrupt))\(\s*{PY_STRING}"
    else:
        form = rf"({calls})\(?\s*{PY_STRING if python else STRING}"
    for hit in re.finditer(form, text):
        said = filled("".join(_pieces(hit[2], python)))
        if len(re.findall(r"[A-Za-z]{2,}", said)) >= MIN_WORDS:
            line = f"{hit[1]}: {said}" if python and calls == "raise" else program.line.format(said)
            yield line.split("\n")[0].rstrip(), text.count("\n", 0, hit.start()) + 1


def _pieces(literal: str, python: bool) -> Iterator[str]:
    quotes = r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'" if python else r"\"((?:[^\"\\]|\\.)*)\""
    for piece in re.finditer(quotes, literal):
        yield next(g for g in piece.groups() if g is not None)


def filled(text: str) -> str:
    """`text` with something where a program fills something in."""
    text = text.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'").strip()
    text = re.sub(r"\{[^{}]*\}|%\([\w]+\)s|%[-+ #0]*\d*(?:\.\*|\.\d+)?s", "abc", text)
    text = re.sub(r"%[-+ #0]*(?:\d+|\*)?(?:\.\d+)?(?:l|ll|h|hh|z|t|j)?[xXp]\w{0,3}", "0x1f", text)
    text = re.sub(r"%[-+ #0]*(?:\d+|\*)?(?:\.\d+)?(?:l|ll|h|hh|z|t|j)?[diufegv]", "17", text)
    return text.replace("%%", "%")


def cause_of(database: Database, line: str) -> list[str]:
    """The causes that signatures name for `line`, strongest first; empty where a healthy message or nothing speaks."""
    found = [s for s, _ in database.matches(line)]
    if any(s.cause == HEALTHY for s in found):
        return []
    order = {"proof": 0, "strong": 1, "hint": 2}
    return list(dict.fromkeys(s.cause for s in sorted(found, key=lambda s: order[s.weight])))


def main() -> None:
    """Count, or draw."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sources", type=Path)
    arguments.add_argument("--draw", action="store_true")
    given = arguments.parse_args()
    database = load()
    ends = {p.name: messages(p, given.sources, p.ends) for p in PROGRAMS}
    if not given.draw:
        for name, told in ends.items():
            known = [bool(cause_of(database, m.line)) for m in told]
            special = [any(not database.causes[c].fallback for c in cause_of(database, m.line)) for m in told]
            print(f"{name:24} {len(told):6} messages  {_share(known)} known  {_share(special)} with a cause of their own")
        return
    quiet = [m for p in PROGRAMS for m in messages(p, given.sources, p.informs)]
    draw = random.Random(SEED)
    rows = [(kind, m) for kind, told in (("ends", [m for ms in ends.values() for m in ms]), ("informs", quiet))
            for m in draw.sample(told, min(DRAWN, len(told)))]  # fmt: skip
    with MANIFEST.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("kind", "program", "file", "line", "causes"))
        for kind, m in rows:
            table.writerow((kind, m.program, m.file, m.number, " ".join(cause_of(database, m.line))))
            print(f"{kind}\t{m.program}\t{m.line}\t{' '.join(cause_of(database, m.line))}")


def _share(known: list[bool]) -> str:
    return f"{100 * sum(known) / len(known):5.1f} %" if known else "    - "


if __name__ == "__main__":
    main()
