"""Disks: full, failing and frozen file systems."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from .case import Files, case
from .stage import KernelLog, Stage

_CHECKPOINTS = "/home/user/run/checkpoints"
DATA = "/home/user/run/data"


def _small_disk(size: str) -> list[str]:
    return [f"mkdir -p {_CHECKPOINTS}", f"mount -t tmpfs -o size={size},mode=777 tmpfs {_CHECKPOINTS}"]


def disk_image(megabytes: int) -> list[str]:
    """An ext4 file system in a file of its own, mounted through a loop device that goes away with the stage."""
    return [
        f"mkdir -p {DATA}",
        f"truncate -s {megabytes}m /home/disk.img",
        "mkfs.ext4 -q -F -O ^has_journal /home/disk.img",
        f"mount -o loop /home/disk.img {DATA}",
        f"chmod 777 {DATA}",
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
    one, kernel = stage(mounts=[*disk_image(96), f"chmod 666 {lose}"]), KernelLog()
    script = f"python read_shards.py write\nsync\ntruncate -s 24m {lose}\npython read_shards.py read"
    return {"train.log": one.output_of(script, "read_shards.py"), "dmesg.log": kernel.lines("-T")}


@case("storage.io_error", ("dmesg.log", "EXT4-fs error"), accept=("data.corrupt",))
def damaged_ext4(stage: Callable[..., Stage]) -> Files:
    """The inode table under a data set is overwritten; ext4 notices while shards are opened, and goes read-only."""
    image = "/home/disk.img"
    damage = [
        *disk_image(64),
        f"for n in $(seq -w 0 399); do echo $n > {DATA}/shard-$n.txt; done",
        f"umount {DATA}",
        f"table=$(dumpe2fs {image} 2>/dev/null | sed -n 's/.*Inode table at \\([0-9]*\\)-.*/\\1/p' | head -1)",
        f"size=$(dumpe2fs -h {image} 2>/dev/null | sed -n 's/^Block size: *//p')",
        f"dd if=/dev/urandom of={image} bs=$size seek=$((table + 12)) count=20 conv=notrunc status=none",
        f"mount -o loop,errors=remount-ro {image} {DATA}",
    ]
    one, kernel = stage(mounts=damage), KernelLog()
    output = one.output_of("python read_list.py", "read_list.py")
    return {"train.log": output, "dmesg.log": kernel.lines("-T")}


@case("storage.full", ("train.log", "No space left on device"))
def inodes_full(stage: Callable[..., Stage]) -> Files:
    """A file for each sample uses up the inodes of an ext4 of 16 MiB that has room for more bytes; the shell shows both."""
    image = [line.replace("-F -O", "-F -N 64 -O") for line in disk_image(16)]
    program = "for sample in range(1000):\n    with open(f'data/{sample:06}.json', 'w') as file:\n        file.write('{}')\n"
    script = 'python cache.py\necho "exit status $?"\ndf -h data\ndf -i data'
    return {"train.log": stage(mounts=image).output_of(script, files={"cache.py": program})}


@case("storage.io_error", ("dmesg.log", "I/O error"), symptoms=("process.bus_error",))
def mmap_io_error(stage: Callable[..., Stage]) -> Files:
    """The device under a memory-mapped data file loses its second half: the kernel sends SIGBUS instead of an errno."""
    damage = [
        *disk_image(96),
        f"head -c 60000000 /dev/zero > {DATA}/tokens.bin",
        f"sync; umount {DATA}",
        f"mount -o loop /home/disk.img {DATA}",
        "truncate -s 20m /home/disk.img",
    ]
    one, kernel = stage(mounts=damage), KernelLog()
    program = (
        "import numpy as np\n\ntokens = np.memmap('data/tokens.bin', dtype=np.uint8, mode='r')\n"
        "for step in range(len(tokens) >> 20):\n    print('step', step, int(tokens[step << 20 : (step << 20) + 4096].sum()))\n"
    )
    output = one.output_of('python train.py\necho "exit status $?"', files={"train.py": program})
    return {"train.log": output, "dmesg.log": kernel.lines("-T")}


def _fuse(seconds: int) -> list[str]:
    start = f"LD_LIBRARY_PATH=/home/user/python/lib /home/user/python/bin/python3 /home/user/run/fuse_mount.py {DATA} {seconds}"
    return [f"mkdir -p {DATA}", start]


@case("storage.network_fs", ("train.log", "data/shard-"))
def fuse_daemon_died(stage: Callable[..., Stage]) -> Files:
    """The daemon of the FUSE mount under a data set vanishes while shards are read."""
    return {"train.log": stage(mounts=_fuse(8)).output_of("python read_mount.py", "read_mount.py", "fuse_mount.py")}


@case("storage.network_fs", ("train.log", "data/shard-"), symptoms=("distributed.peer_lost",))
def fuse_died_torchrun(stage: Callable[..., Stage]) -> Files:
    """The FUSE mount of rank 1's shards dies under a torchrun job; rank 0 loses its peer."""
    script = "torchrun --standalone --nproc_per_node=2 read_mount.py"
    return {"train.log": stage(mounts=_fuse(25)).output_of(script, "read_mount.py", "fuse_mount.py")}


@case("host_os.lockup", ("dmesg.log", "blocked for more than"), accept=("storage.io_error", "process.stalled"))
def hung_task(stage: Callable[..., Stage]) -> Files:
    """A training's file system freezes under it; the logs are taken when the kernel's hung-task watchdog has reported."""
    thaw = f"for _ in $(seq 400); do [ -e /home/user/run/thaw ] && break; sleep 1; done; fsfreeze -u {DATA}"
    one, kernel = stage(mounts=[*disk_image(64), f"(sleep 12; fsfreeze -f {DATA}; {thaw}) &"]), KernelLog()
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


@case("storage.full", ("run1.log", "No space left on device"), symptoms=("data.corrupt",))
def disk_full_then_resume(stage: Callable[..., Stage]) -> Files:
    """A run cannot write its last checkpoints, warns and ends well; the next one dies of the file that was cut short."""
    one = stage(mounts=_small_disk("6m"))
    one.prepare("resumes.py")
    one.run("\n".join(f'(python resumes.py; echo "exit status $?") > run{n}.log 2>&1' for n in (1, 2)))
    return {name: one.read(name) for name in ("run1.log", "run2.log")}
