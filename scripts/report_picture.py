"""Makes docs/report.png anew: the top of the page about a captured case, as Chromium shows it. Needs chromium on the PATH.

python -m scripts.report_picture
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
CASE = Path("sample_logs", "jupyter_oom")
PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 1000, 800  # as wide as the README is shown; down to the end of the lines around the one that decided
PICTURE_COLOURS = 256  # the most of an indexed picture: a third of the bytes, and every mark keeps its colour


def main() -> None:
    """Write the page, photograph it and keep the picture."""
    from PIL import Image

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        sys.exit("chromium is not on the PATH (Debian: chromium)")
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder, "report.html"), Path(folder, "report.png")
        command = [sys.executable, "-m", "forensics", "analyze", str(CASE), "--format", "html", "--output", str(page)]
        subprocess.run(command, cwd=ROOT, check=True)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        options += ["--force-prefers-reduced-motion", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}"]
        subprocess.run([browser, *options, page.as_uri()], check=True, stderr=subprocess.DEVNULL, timeout=120)
        with Image.open(shot) as image:
            image.convert("RGB").quantize(PICTURE_COLOURS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
