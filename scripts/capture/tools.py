"""Debian packages that a stage sees laid over its /usr, without their being installed on this machine: Slurm, Open MPI.

tools(work) -> ["mount -t overlay overlay -o lowerdir=WORK/tools/usr:/usr /usr"], for Stage.mounts
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "openmpi-bin")
# What the packages' own set-up would link; without it the daemons do not find each other.
LINKS = {"sbin/slurmctld": "slurmctld-wlm", "sbin/slurmd": "slurmd-wlm", "sbin/slurmstepd": "slurmstepd-wlm"}


def tools(work: Path) -> list[str]:
    """The mounts that show PACKAGES under /usr; downloads and unpacks them once. Needs apt, whose lists are up to date."""
    usr = work / "tools" / "usr"
    if not usr.exists():
        unpacked = work / "tools.new"
        shutil.rmtree(unpacked, ignore_errors=True)
        _unpack(work / "debs", unpacked)
        for folder in ("bin", "sbin", "lib"):  # on the machine these are links into /usr
            if (unpacked / folder).exists():
                shutil.copytree(unpacked / folder, unpacked / "usr" / folder, symlinks=True, dirs_exist_ok=True)
        for link, target in LINKS.items():
            (unpacked / "usr" / link).symlink_to(target)
        unpacked.rename(work / "tools")
    return [f"mount -t overlay overlay -o lowerdir={usr}:/usr /usr"]


def _unpack(debs: Path, into: Path) -> None:
    (debs / "partial").mkdir(parents=True, exist_ok=True)
    fetch = ["apt-get", "install", "-y", "--no-install-recommends", "--download-only", "-o", f"Dir::Cache::archives={debs}"]
    subprocess.run([*fetch, *PACKAGES], check=True, capture_output=True)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(deb), str(into)], check=True)
