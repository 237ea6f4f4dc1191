"""Lets a kernel die in JupyterLab, Notebook 7, the classic client and a Hub's single-user server, and looks at the cell in Chromium.

    python benchmarks/kernel_in_browsers.py FOLDER [--only CLIENT...] [--dark] [--proxy configurable-http-proxy]

Writes FOLDER/CLIENT.png, the screenshot with the message; prints how soon it was there, whether its click ran the cells above in a
new kernel, and where its link led. `--dark` takes the dark theme, where there is one. Needs
training-forensics[jupyter], jupyterlab, notebook, nbclassic, selenium, Chromium with its driver; for the Hub jupyterhub and its proxy
(a package of npm), else it is left out.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PORT, TOKEN = 18950, "seen"
BIN = Path(sys.executable).parent
CELLS = ("import os\nprint(os.getpid())", "import ctypes\nctypes.string_at(\n    0,\n)")
PAGES = {
    "lab": "/lab/tree/train.ipynb",
    "notebook": "/notebooks/train.ipynb",
    "classic": "/nbclassic/notebooks/train.ipynb",
    "hub": "/user/ada/lab/tree/train.ipynb",
}
CLASSIC = {"cell": ".code_cell", "editor": ".CodeMirror"}
MODERN = {"cell": ".jp-CodeCell", "editor": ".cm-content"}
HUB = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {port} + 1
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "{token}"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {folder!r}
c.Spawner.args = ["--allow-root"]
c.Spawner.http_timeout = c.Spawner.start_timeout = 200
c.Spawner.environment = {environment!r}
"""


def notebook() -> dict[str, Any]:
    """Two cells, the second of which crashes."""
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "outputs": [], "execution_count": None, "source": s}
        for n, s in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def until(found: Callable[[], Any], seconds: float = 240) -> Any:
    """What `found` gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(WebDriverException, OSError, IndexError):
            if value := found():
                return value
        time.sleep(0.05)
    raise TimeoutError(f"{found.__qualname__} came to nothing")


@contextlib.contextmanager
def served(client: str, proxy: str, dark: bool) -> Iterator[Path]:
    """A server for `client`, until the end of the block; yields its folder."""
    folder = Path(tempfile.mkdtemp(prefix="kernel_in_browsers"))
    (folder / "train.ipynb").write_text(json.dumps(notebook()))
    if dark:
        theme = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
        theme.parent.mkdir(parents=True)
        theme.write_text('{"theme": "JupyterLab Dark"}')
    environment = os.environ | {"XDG_STATE_HOME": str(folder / "state"), "PATH": f"{BIN}:{os.environ['PATH']}"}
    environment |= {"JUPYTER_CONFIG_DIR": str(folder / "config")}  # no workspace of earlier
    if client == "hub":
        kept = {k: v for k, v in environment.items() if k.startswith(("XDG_", "FORENSICS_", "JUPYTER_", "PATH", "PYTHON"))}
        (folder / "hub.py").write_text(HUB.format(
            port=PORT, api=PORT + 2, proxy=[proxy], token=TOKEN, folder=str(folder), environment=kept))  # fmt: skip
        command = [BIN / "jupyterhub", "-f", folder / "hub.py"]
    else:
        command = [BIN / "jupyter", "lab", "--no-browser", f"--port={PORT}", "--allow-root", f"--IdentityProvider.token={TOKEN}"]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen([str(c) for c in command], cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        until(
            lambda: urllib.request.urlopen(
                f"http://127.0.0.1:{PORT}/hub/login" if client == "hub" else f"http://127.0.0.1:{PORT}/login"
            )
        )
        yield folder
    except BaseException:
        print((folder / "server.log").read_text()[-3000:], file=sys.stderr)
        raise
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def browser() -> webdriver.Chrome:
    """Chromium without a window."""
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1100,860", "--disable-gpu"):
        options.add_argument(word)
    options.binary_location = str(shutil.which("chromium"))
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(300)
    return driver


def open_page(driver: webdriver.Chrome, client: str) -> None:
    """The notebook's page, after the log-in."""
    base = f"http://127.0.0.1:{PORT}"
    if client == "hub":
        driver.get(f"{base}/hub/login")
        until(lambda: driver.find_element(By.ID, "username_input")).send_keys("ada")
        driver.find_element(By.ID, "password_input").send_keys(TOKEN, Keys.ENTER)
        until(lambda: "/user/ada/" in driver.current_url)
        driver.get(base + PAGES[client])
    else:
        driver.get(f"{base}{PAGES[client]}?token={TOKEN}")


def look(driver: webdriver.Chrome, client: str, target: Path) -> dict[str, Any]:
    """Run both cells, wait for the message, take the picture, follow the link."""
    page = CLASSIC if client == "classic" else MODERN

    def cells() -> list[Any]:
        return driver.find_elements(By.CSS_SELECTOR, page["cell"])

    def outputs() -> str:
        return str(cells()[1].text)

    def notices() -> list[Any]:
        return [
            b
            for b in driver.find_elements(By.CSS_SELECTOR, ".jp-Dialog .jp-mod-accept, .modal-dialog .btn-primary")
            if b.is_displayed()
        ]

    until(lambda: len(cells()) >= 2)
    until(lambda: "dle" in driver.page_source)
    time.sleep(30)  # the kernel is up, and the server has loaded its knowledge
    hide = "document.querySelectorAll('.Toastify').forEach(e => e.style.display = 'none')"
    driver.execute_script(hide)  # JupyterLab asks whether it may fetch news
    for n in (0, 1):
        until(lambda n=n: cells()[n].find_element(By.CSS_SELECTOR, page["editor"]).click() or True)
        driver.switch_to.active_element.send_keys(Keys.SHIFT, Keys.ENTER)
        asked = time.monotonic()
        time.sleep(1.5 if n == 0 else 0)
    until(lambda: "The kernel died:" in outputs())
    seconds = time.monotonic() - asked
    before = not notices()
    with contextlib.suppress(TimeoutError):
        until(notices, 15)[0].click()
    time.sleep(1)
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", cells()[1])
    time.sleep(0.5)
    driver.save_screenshot(str(target))
    pid = str(cells()[0].text).split()[-1]
    link = cells()[1].find_elements(By.PARTIAL_LINK_TEXT, "The full report")[0].get_attribute("href")
    cells()[1].find_element(By.CSS_SELECTOR, "button.forensics-click").click()
    again = until(lambda: (new := str(cells()[0].text).split()[-1]) != pid and new.isdigit())
    driver.get(link)
    until(lambda: "segmentation fault" in driver.title)
    return {
        "client": client,
        "seconds": round(seconds, 2),
        "before_the_restarts_notice": before,
        "cells_above_ran": again,
        "report": driver.title,
    }


def main() -> None:
    """Look at each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=list(PAGES))
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--proxy", default=shutil.which("configurable-http-proxy") or "")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for client in asked.only:
        if client == "hub" and not asked.proxy:
            print("hub: left out, for configurable-http-proxy is not here")
            continue
        driver = browser()
        try:
            with served(client, asked.proxy, asked.dark):
                open_page(driver, client)
                try:
                    print(json.dumps(look(driver, client, asked.folder / f"{client}.png")), flush=True)
                except BaseException:
                    driver.save_screenshot(str(asked.folder / f"{client}-fault.png"))
                    raise
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
