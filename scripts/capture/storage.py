"""Disks: full, failing and frozen file systems."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from .case import Files, case
from .stage import KernelLog, Stage

_CHECKPOINTS = "/home/user/run/checkpoints"
_DATA = "/home/user/run/data"


def _small_disk(size: str) -> list[str]:
    return [f"mkdir -p {_CHECKPOINTS}", f"mount -t tmpfs -o size={size},mode=777 tmpfs {_CHECKPOINTS}"]


def _image(megabytes: int) -> list[str]:
    """An ext4 file system in a file of its own, mounted through a loop device that goes away with the stage."""
    return [
        f"mkdir -p {_DATA}",
        f"truncate -s {megabytes}m /home/disk.img",
        "mkfs.ext4 -q -F -O ^has_journal /home/disk.img",
        f"mount -o loop /home/disk.img {_DATA}",
        f"chmod 777 {_DATA}",
    ]


@case("storage.full", ("train.log", "RuntimeError: basic_ios::clear: iostream error"))
def disk_full_checkpoint(stage: Callable[..., Stage]) -> Files:
    """torch.save fills a file system of 100 MiB; the shell then shows `df`."""
    one = stage(mounts=_small_disk("100m"))
    return {"train.log": one.output_of("python disk_full.py\ndf -h checkpoints", "disk_full.py")}


@case("storage.full", ("train.log", "OSError: [Errno 28] No space left on device"))
def disk_full_metrics(stage: Callable[..., Stage]) -> Files:
    """A file of predictions fills a file system of 16 MiB."""
    one = stage(mounts=_small_disk("16m"))
    return {"train.log": one.output_of("python metrics_full.py", "metrics_full.py")}


@case("storage.io_error", ("dmesg.log", "I/O error, dev loop"), ("train.log", "Input/output error"))
def disk_io_error(stage: Callable[..., Stage]) -> Files:
    """The device under a data set loses its second half while shards are read from it."""
    lose = "/home/disk.img"
    one, kernel = stage(mounts=[*_image(96), f"chmod 666 {lose}"]), KernelLog()
    script = f"python read_shards.py write\nsync\ntruncate -s 24m {lose}\npython read_shards.py read"
    return {"train.log": one.output_of(script, "read_shards.py"), "dmesg.log": kernel.lines("-T")}


@case("storage.io_error", ("dmesg.log", "EXT4-fs error"), accept=("data.corrupt",))
def damaged_ext4(stage: Callable[..., Stage]) -> Files:
    """The inode table under a data set is overwritten; ext4 notices while shards are opened, and goes read-only."""
    image = "/home/disk.img"
    damage = [
        *_image(64),
        f"for n in $(seq -w 0 399); do echo $n > {_DATA}/shard-$n.txt; done",
        f"umount {_DATA}",
        f"table=$(dumpe2fs {image} 2>/dev/null | sed -n 's/.*Inode table at \\([0-9]*\\)-.*/\\1/p' | head -1)",
        f"size=$(dumpe2fs -h {image} 2>/dev/null | sed -n 's/^Block size: *//p')",
        f"dd if=/dev/urandom of={image} bs=$size seek=$((table + 12)) count=20 conv=notrunc status=none",
        f"mount -o loop,errors=remount-ro {image} {_DATA}",
    ]
    one, kernel = stage(mounts=damage), KernelLog()
    output = one.output_of("python read_list.py", "read_list.py")
    return {"train.log": output, "dmesg.log": kernel.lines("-T")}


@case("host_os.lockup", ("dmesg.log", "blocked for more than"), accept=("storage.io_error", "process.stalled"))
def hung_task(stage: Callable[..., Stage]) -> Files:
    """A training's file system freezes under it; the logs are taken when the kernel's hung-task watchdog has reported."""
    thaw = f"for _ in $(seq 400); do [ -e /home/user/run/thaw ] && break; sleep 1; done; fsfreeze -u {_DATA}"
    one, kernel = stage(mounts=[*_image(64), f"(sleep 12; fsfreeze -f {_DATA}; {thaw}) &"]), KernelLog()
    files: dict[str, str] = {}

    def wait(_: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + 300
        while "blocked for more than" not in kernel.lines() and time.monotonic() < end:
            time.sleep(5)
        files["dmesg.log"] = kernel.lines("-T")
        files["train.log"] = (one.home.parent / "output.log").read_text()
        one.write("thaw", "")

    one.output_of("python append.py", "append.py", meanwhile=wait)
    return files
