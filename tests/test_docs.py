"""The documentation: no link is dead, every cause and code has a page, and the site's navigation leads to pages that are there."""

import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from forensics.database import builtin_folder, read_folders, read_rows
from forensics.version import VERSION
from scripts.docs import ROOT, links
from scripts.docs.codes import slug
from scripts.docs.pages import pages, repository_pages
from tests.commandline import in_text

README_LINES = 120
pytestmark = pytest.mark.seconds


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    return pages()


def test_no_link_is_dead(site: dict[str, str]) -> None:
    assert list(links.dead_links(repository_pages(), ROOT)) == []
    assert list(links.dead_links(site, ROOT / "docs")) == []


def test_dead_links_are_found() -> None:
    texts = {"a.md": "# One\n[b](b.md#two) [gone](c.md) [here](#one) [no](b.md#three) `[code](x.md)`", "b.md": "# Two"}
    assert list(links.dead_links(texts)) == ["a.md: c.md", "a.md: b.md#three"]


def test_every_cause_and_code_has_a_page(site: dict[str, str]) -> None:
    for cause in read_folders([builtin_folder()])[0]:
        page = site[f"causes/{cause.id}.md"]
        assert all(signature.match[0].text.split("\n")[0] in page for signature in cause.signatures)
    for table, kind in (("xid", "Xid"), ("sxid", "SXid"), ("cuda_error", "CUDA error"), ("nccl_result", "NCCL result"),
                        ("ntstatus", "NTSTATUS")):  # fmt: skip
        assert all(f"codes/{slug(kind, row['code'])}.md" in site for row in read_rows(table))
    assert "GPU has fallen off the bus" in site["codes/xid-79.md"]
    assert "host_memory.oom_cgroup" in site["codes/exit-status-137.md"]
    assert "## How often its messages were right" in site["causes/host_memory.oom_cgroup.md"]


def test_the_navigation_leads_to_pages_that_are_there(site: dict[str, str]) -> None:
    def leaves(nav: Any) -> Iterator[str]:
        if isinstance(nav, str):
            yield nav
        for below in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
            yield from leaves(below)

    named = list(leaves(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))
    assert set(named) <= set(site)
    assert len(named) == len(set(named))


PATH = re.compile(r"`((?:forensics|tests|scripts|benchmarks|signatures|sample_logs|docs|etc|ci)/[\w./-]*\w/?)`")


def test_files_that_pages_name_are_there() -> None:
    named = {(page, path) for page, text in repository_pages().items() for path in PATH.findall(text) if page != "CHANGELOG.md"}
    assert [f"{page}: {path}" for page, path in sorted(named) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("schema", "files"),
    [("forms", "wrong_answer message bug"), ("config", "config")],
)
def test_issue_forms_are_what_the_host_takes(schema: str, files: str) -> None:
    pytest.importorskip("check_jsonschema")
    paths = [str(ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml") for name in files.split()]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.github-issue-{schema}", *paths],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_citation_names_this_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == VERSION


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES


class _Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/there" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_an_address_is_dead_where_its_server_says_so() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert (links.asked(address + "/there"), links.asked(address + "/gone")) == ("ok", "dead 404")
        server.shutdown()
        thread.join()
    assert links.asked(address + "/there").startswith("no answer")


def test_the_file_that_the_page_of_own_messages_shows_is_taken(tmp_path: Path) -> None:
    block = re.search(r"```yaml\n(cause: storage\.falcon.*?)```", (ROOT / "docs" / "own-messages.md").read_text(), re.S)
    assert block
    taught = tmp_path / "mine" / "storage" / "falcon.yaml"
    taught.parent.mkdir(parents=True)
    taught.write_text(block[1])
    (tmp_path / "job.log").write_text("step 1 loss 3\nE4711 shard ring lost its token after 7 tries\n")
    assert "0 faults" in in_text("signatures", "check", str(tmp_path / "mine")).stderr
    told = in_text("analyze", str(tmp_path / "job.log"), "--signatures", str(tmp_path / "mine")).stdout
    for part in ("The falcon ring lost its token", "after 7 tries.", "falconctl token --renew"):
        assert part in told
