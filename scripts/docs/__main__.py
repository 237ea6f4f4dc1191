"""Writes the pages to build/docs, and makes the site of them."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.docs import ROOT, __doc__
from scripts.docs.pages import pages

TARGET = ROOT / "build" / "docs"
PICTURES = (".png", ".svg")


def main() -> None:
    """Write, and with --build make the site; its faults end this with status 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="make build/site with zensical, strictly: a dead link is a fault")
    given = parser.parse_args()
    shutil.rmtree(TARGET, ignore_errors=True)
    site = pages()
    for name, text in site.items():
        path = TARGET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for picture in (p for p in (ROOT / "docs").rglob("*") if p.suffix in PICTURES):
        place = TARGET / picture.relative_to(ROOT / "docs")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, place)
    print(f"{len(site)} pages in {TARGET.relative_to(ROOT)}")
    if given.build:
        command = [str(Path(sys.executable).with_name("zensical")), "build", "--clean", "--strict"]
        sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
