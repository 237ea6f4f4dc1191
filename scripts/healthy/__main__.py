"""Captures the healthy runs: `python -m scripts.healthy --work FOLDER [RUN...]`; without RUN, all of them.

A run is a script of `runs/`, executed as `user` on `node-1` in a Stage of scripts/capture (needs root), its output kept as
tests/hostile/healthy/RUN.log. What this machine itself logged while it was set up (packages, boot) is kept beside them.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.capture.stage import PACKAGES, Stage, make_venv
from scripts.healthy.scrub import scrubbed

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "tests/hostile/healthy"
MORE = (
    "lightning transformers accelerate wandb optuna lightgbm xgboost tensorboard uvicorn gunicorn scikit-learn pandas pytest "
    "pytest-timeout hypothesis requests nbconvert"
)
DAEMONS = (
    "nginx-light nginx redis-server redis-tools openssh-server rsyslog wget libjemalloc2 liblzf1 libestr0 libfastjson4 "
    "liblognorm5 libatomic1 liblua5.1-0 lua-cjson lua-bitop libhiredis0.14 libwrap0"
)
NETWORK = {"pip_install"}
MOST_BYTES = 90_000
LIMIT_S = 150


def prepare(work: Path) -> None:
    """The environment of the captures, MORE in it, and the daemons of DAEMONS unpacked into `work`/debian."""
    make_venv(work)
    mark = work / "venv" / "more.txt"
    if not mark.exists():
        stage = Stage(work, "make-more", network=True)
        stage.prepare()
        told = stage.run(f"pip install --quiet {MORE} && echo INSTALLED", timeout=1200)
        if "INSTALLED" not in told:
            raise RuntimeError(told[-2000:])
        mark.write_text("\n".join((*PACKAGES, MORE)))
    tree = work / "debian"
    if not tree.exists():
        tree.mkdir()
        for name in DAEMONS.split():
            subprocess.run(["apt-get", "download", "-q", name], cwd=tree, check=False, stdout=subprocess.DEVNULL)
        for package in tree.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(tree)], check=True)
            package.unlink()


def captured(run: Path, work: Path) -> str:
    """The output of one run, scrubbed and cut behind a whole line."""
    stage = Stage(work, f"healthy-{run.stem}", network=run.stem in NETWORK)
    stage.prepare()
    for path in (HERE / "programs").iterdir():
        (shutil.copytree if path.is_dir() else shutil.copy)(path, stage.run_dir / path.name)
    for program in ("ddp.py",):
        shutil.copy(HERE.parent / "capture/programs" / program, stage.run_dir)
    shutil.copytree(work / "debian", stage.home / "debian", symlinks=True)
    (stage.home / "debian").chmod(0o755)
    tree, libraries = "/home/user/debian", "lib/x86_64-linux-gnu"
    paths = (
        f"export PATH=$PATH:{tree}/usr/sbin:{tree}/usr/bin:{tree}/sbin:/usr/sbin\n"
        f"export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:{tree}/usr/{libraries}:{tree}/{libraries}\n"
    )
    text = scrubbed(stage.run(paths + run.read_text(), timeout=LIMIT_S))
    return text if len(text) < MOST_BYTES else text[: text.rfind("\n", 0, MOST_BYTES) + 1]


def own_logs() -> Iterator[tuple[str, str]]:
    """What this machine logged while it was installed and booted, where it did."""
    for path in ("dpkg.log", "apt/term.log", "apt/history.log", "alternatives.log"):
        file = Path("/var/log") / path
        if file.exists():
            yield file.name.replace(".log", "") if "apt" not in path else f"apt_{file.stem}", file.read_text(errors="replace")
    boot = (Path(__file__).parents[2] / "sample_logs/healthy_dmesg/dmesg.log").read_text()
    yield "boot", boot


def main() -> int:
    """Capture the wanted runs; status 1 when one fails."""
    parser = argparse.ArgumentParser(prog="python -m scripts.healthy", description=__doc__)
    parser.add_argument("runs", nargs="*", metavar="RUN")
    parser.add_argument("--work", type=Path, required=True, help="scratch folder that keeps the environment between runs")
    options = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("needs root: the runs have namespaces of their own")
    work = options.work.resolve()
    prepare(work)
    FOLDER.mkdir(parents=True, exist_ok=True)
    failed = 0
    for run in sorted((HERE / "runs").glob("*.sh")):
        if options.runs and run.stem not in options.runs:
            continue
        try:
            text = captured(run, work)
        except (subprocess.TimeoutExpired, OSError) as trouble:
            print(f"{run.stem}: {trouble}", file=sys.stderr)
            failed += 1
            continue
        (FOLDER / f"{run.stem}.log").write_text(text)
        print(f"{run.stem}: {len(text)} bytes", flush=True)
    if not options.runs:
        for name, text in own_logs():
            (FOLDER / f"{name}.log").write_text(scrubbed(text)[:MOST_BYTES].rpartition("\n")[0] + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
