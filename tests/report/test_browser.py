"""The HTML report in a real browser: opened from a file, without errors, the cause above the fold, nothing cut off, readable."""

import base64
import contextlib
import json
import re
import shutil
import socket
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forensics import Report, analyze
from forensics.database import Database
from forensics.report import index, render
from forensics.report.document import document
from tests.report import made
from tests.report.samples import sample

CHROMIUM, DRIVER = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
SIZES = [(1400, 900), (390, 844)]
CASES = ["jupyter_oom", "oom_leak", "torchrun_keyerror", "nan_loss", "healthy_train"]
AA = 4.5

AXE = "const done = arguments[0]; axe.run(document).then(r => done(r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 200)])))"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="needs chromium and chromedriver (Debian: chromium, chromium-driver)"),
]

CONTRAST = """
const luminance = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
  return .2126 * r + .7152 * g + .0722 * b };
const parts = c => c.match(/[\\d.]+/g).map(Number);
const over = (c, below) => below.map((v, i) => c[i] * (c[3] ?? 1) + v * (1 - (c[3] ?? 1)));  // a translucent layer
const ground = e => { if (!e) return [255, 255, 255]; const p = parts(getComputedStyle(e).backgroundColor);
  return p.length === 3 ? p : p[3] ? over(p, ground(e.parentElement)) : ground(e.parentElement) };
const found = [];
for (const d of document.querySelectorAll("details")) d.open = true;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let n; n = walker.nextNode();) {
  const e = n.parentElement;
  if (!n.textContent.trim() || ["SCRIPT", "STYLE", "title"].includes(e.tagName)) continue;
  const style = getComputedStyle(e);
  const ink = parts(e instanceof SVGElement ? style.fill : style.color).slice(0, 3);
  const a = luminance(ink), b = luminance(ground(e instanceof SVGElement ? e.closest("figure") : e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  found.push([ratio, n.textContent.trim().slice(0, 40)]);
}
return found;
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def opened(
    browser: Any, path: Path, page: str, size: tuple[int, int] = SIZES[0], scheme: str = "light", script: bool = True
) -> None:
    path.write_text(page, encoding="utf-8")
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
    browser.get(path.as_uri())


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("case", CASES)
def test_the_cause_is_above_the_fold_and_nothing_scrolls_sideways(
    browser: Any, tmp_path: Path, case: str, size: tuple[int, int], knowledge: Database
) -> None:
    report = sample(case, knowledge)
    opened(browser, tmp_path / "r.html", render(report, "html"), size)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    for selector in ("h1", "header .id", ".happened", ".do-first", ".proof[open] mark"):
        if (selector == ".do-first" and report.verdict == "no_crash") or (selector.endswith("mark") and size[0] < 500):
            continue  # on a phone the story fills the first screen
        assert browser.execute_script(f"return document.querySelector('{selector}').getBoundingClientRect().bottom") <= size[1]
    assert report.causes[0].title in browser.title


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", [*CASES, "made"])
def test_all_text_can_be_read(browser: Any, tmp_path: Path, case: str, scheme: str, knowledge: Database) -> None:
    report = made.report() if case == "made" else sample(case, knowledge)
    opened(browser, tmp_path / "r.html", render(report, "html"), scheme=scheme)
    found = browser.execute_script(CONTRAST)
    assert len(found) > 20
    assert [told for told in found if told[0] < AA] == []
    dark = browser.execute_script("return getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")


def test_a_key_reaches_a_mark_and_opens_its_row(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    opened(browser, tmp_path / "r.html", render(made.report(), "html"))
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        if browser.execute_script("return document.activeElement.closest('.mark.root') !== null"):
            break
    else:
        raise AssertionError("no mark can be reached")
    assert "train.log:7" in browser.find_element(By.CSS_SELECTOR, ".hint").text
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    wait = WebDriverWait(browser, 10)  # the page follows its address a moment later
    wait.until(lambda b: b.execute_script("return document.querySelector('#e0').open && location.hash") == "#e0")
    wait.until(lambda b: b.execute_script("return document.activeElement.closest('#e0') !== null"))
    browser.find_element(By.CSS_SELECTOR, "#e0 .acts a").send_keys(Keys.ENTER)
    wait.until(lambda b: b.execute_script("return document.activeElement.closest('.mark.root') !== null"))


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_long_lines_around_the_decisive_one_are_short_until_they_are_clicked(
    browser: Any, tmp_path: Path, size: tuple[int, int]
) -> None:
    opened(browser, tmp_path / "r.html", render(made.report("a word of many " * 33), "html"), size)
    rows = "const e = document.querySelector('.proof[open] {} .text');"
    rows += "return Math.round(e.clientHeight / parseFloat(getComputedStyle(e).lineHeight))"
    beside, decisive = rows.format("span.row"), rows.format("mark")
    assert browser.execute_script(beside) == (4 if size[0] < 500 else 3) and browser.execute_script(decisive) > 4
    browser.find_element("css selector", ".proof[open] .rows").click()
    assert browser.execute_script(beside) > 4


def test_a_long_list_of_facts_leaves_no_gap_above_the_buttons(browser: Any, tmp_path: Path) -> None:
    page = render(made.report("it broke"), "html").replace(
        "<div><dt>Where", "<div><dt>Long</dt><dd>" + "a fact " * 100 + "</dd></div><div><dt>Where"
    )
    opened(browser, tmp_path / "r.html", page)
    place = "return document.querySelector('{}').getBoundingClientRect().{}"
    gap = browser.execute_script(place.format(".share", "top")) - browser.execute_script(place.format(".next", "bottom"))
    assert 0 < gap < 24 and browser.execute_script(place.format(".facts", "height")) > 400


def test_the_causes_stay_beside_a_long_list_of_cases(browser: Any, tmp_path: Path) -> None:
    opened(browser, tmp_path / "index.html", index.index_html(many_rows(100), "incidents"))
    browser.execute_script("scrollTo(0, 3000)")
    assert browser.execute_script("return document.querySelector('.causes').getBoundingClientRect().top") == 0


def test_trends_of_a_history_with_a_long_name_fit_on_a_phone(browser: Any, tmp_path: Path) -> None:
    opened(browser, tmp_path / "r.html", history("History of /a/" + "long_" * 30), SIZES[1])
    assert browser.execute_script("return document.documentElement.scrollWidth") <= SIZES[1][0]
    assert browser.execute_script("return innerWidth") == SIZES[1][0]
    line = "return document.querySelector('td.line').getBoundingClientRect().right"
    assert browser.execute_script(line) <= SIZES[1][0]


@pytest.mark.parametrize("case", ["hang_dead_rank", "jupyter_oom", "made"])
def test_it_prints_on_two_pages(browser: Any, tmp_path: Path, case: str, knowledge: Database) -> None:
    report = made.report() if case == "made" else sample(case, knowledge)
    opened(browser, tmp_path / "r.html", render(report, "html"))
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", as_pdf(browser))) <= 2


def as_pdf(browser: Any) -> bytes:
    """The page on A4. Chromium refuses to print while it is still busy with a page, on a machine with much else to do, so it is
    asked again."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.support.ui import WebDriverWait

    size = {"paperWidth": 8.27, "paperHeight": 11.69}
    waits = WebDriverWait(browser, 20, ignored_exceptions=[WebDriverException])
    return base64.b64decode(waits.until(lambda b: b.execute_cdp_cmd("Page.printToPDF", size)["data"]))


def test_commands_and_the_report_as_text_are_copied(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, tmp_path / "r.html", render(made.report(), "html"))
    browser.execute_script("window.took = []; navigator.clipboard.writeText = async text => { took.push(text) }")
    for selector in ("[data-before]", "[data-copies=brief]", "[data-copies=ticket]"):
        browser.find_element(By.CSS_SELECTOR, selector).click()
    command, brief, ticket = browser.execute_script("return took")
    assert command == "echo RuntimeError: it broke"
    assert brief.startswith("# A memory limit was hit (host_memory.oom_cgroup, 93 %, crash)")
    assert ticket.startswith("A memory limit was hit (host_memory.oom_cgroup")


def test_zoom_moves_the_marks_and_all_shows_them_again(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, tmp_path / "r.html", render(made.report(), "html"))
    spread = "const x = [...document.querySelectorAll('.mark')].map(e => parseFloat(e.getAttribute('x'))); return Math.max(...x) - Math.min(...x)"
    before = browser.execute_script(spread)
    browser.find_element(By.CSS_SELECTOR, "[data-zoom=in]").click()
    assert browser.execute_script(spread) == pytest.approx(2 * before, rel=0.01)
    browser.find_element(By.CSS_SELECTOR, "[data-zoom=all]").click()
    assert browser.execute_script(spread) == pytest.approx(before, rel=0.1)


def test_it_is_whole_without_its_script(browser: Any, tmp_path: Path) -> None:
    opened(browser, tmp_path / "r.html", render(made.report(), "html"), script=False)
    try:
        source = browser.page_source
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    for word in ("A memory limit was hit", "train.log:7", "What to do", "Processes when memory ran out"):
        assert word in source
    assert "Save the report" not in source.split("<footer>")[1].split("<script")[0]


@pytest.mark.parametrize(
    "text",
    ["<script>window.owned=1</script>", "</script><script>window.owned=1</script>", "<img src=x onerror='window.owned=1'>"],
)
def test_nothing_a_log_says_runs(browser: Any, tmp_path: Path, text: str) -> None:
    opened(browser, tmp_path / "r.html", render(made.report(text), "html"))
    assert browser.execute_script("return window.owned") is None
    assert browser.get_log("browser") == []
    saved = browser.execute_async_script("saved().then(arguments[0])")
    assert json.loads(saved) == json.loads(json.dumps(document(made.report(text))))


def test_what_the_policy_forbids_would_not_run(browser: Any, tmp_path: Path) -> None:
    page = render(made.report(), "html").replace(
        "</main>", "<script>window.owned=1</script><img src='http://127.0.0.1:9/x.png'></main>"
    )
    opened(browser, tmp_path / "r.html", page)
    assert browser.execute_script("return window.owned") is None
    assert len(browser.get_log("browser")) >= 2


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The accessibility rules of axe-core, fetched by npm; where that cannot be had, the test is skipped."""
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run(["npm", "pack", "axe-core@4.14.1"], cwd=folder, check=True, capture_output=True, timeout=120)
        with tarfile.open(next(folder.glob("axe-core-*.tgz"))) as packed:
            member = packed.extractfile("package/axe.min.js")
            assert member is not None
            return member.read().decode()
    except (OSError, subprocess.SubprocessError, StopIteration) as error:
        pytest.skip(f"needs npm and the package axe-core: {error}")


def pages(folder: Path) -> dict[str, str]:
    many = many_rows(12)
    return {
        "report": render(made.report(), "html"),
        "undetermined": unknown_end(folder),
        "healthy": render(replace(made.report(), verdict="no_crash"), "html"),
        "index": index.index_html([*many, replace(many[0], cause="a.b", title="A long name of a cause, " * 4)], "incidents"),
        "history": history(),
    }


def unknown_end(folder: Path) -> str:
    """The page on a log whose last lines tell of a failure that no message names."""
    (folder / "run.log").write_text("loaded 12 shards\nsomething odd happened, giving up\nrun failed\n")
    return analyze(folder / "run.log", workers=1).to_html()


def test_the_page_of_cases_without_anything_to_filter_has_no_fault(browser: Any, tmp_path: Path) -> None:
    rows = [replace(row, verdict=index.OPEN, cause="none.healthy", hosts=(), jobs=(), time=None) for row in many_rows(3)]
    opened(browser, tmp_path / "r.html", index.index_html(rows, "cases"), SIZES[1])
    assert browser.get_log("browser") == []
    assert "none is shown to have ended badly" in browser.find_element("css selector", "h1").text


EDITOR_PAGES = {
    "light": "background:#ffffff;color:#3b3b3b",
    "dark": "background:#1f1f1f;color:#cccccc",
}  # an editor's own colours


@pytest.mark.parametrize("scheme", EDITOR_PAGES)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_a_dead_kernels_message_is_readable_where_a_front_end_shows_its_html_alone(
    browser: Any, tmp_path: Path, scheme: str, size: tuple[int, int]
) -> None:
    """As an editor's view of a notebook does: the HTML of the output in a page with colours of its own, without scripts."""
    from forensics.adapters.jupyter.message import death_message
    from tests.adapters.jupyter.test_messages import FACTS

    told = death_message(Report.of(made.report()), FACTS)["html"]
    assert "<script" not in told
    view = "<meta name='viewport' content='width=device-width'>"
    page = f"<!DOCTYPE html><html lang='en'>{view}<title>cell</title><body style='{EDITOR_PAGES[scheme]}'>{told}"
    opened(browser, tmp_path / "r.html", page, size, scheme)
    assert browser.get_log("browser") == []
    assert [found for found in browser.execute_script(CONTRAST) if found[0] < AA] == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    assert not any(b.is_displayed() for b in browser.find_elements("css selector", "button"))  # nothing there runs a click


def history(title: str = "History") -> str:
    """The page of a history in which a node fails more often than the others."""
    pytest.importorskip("sqlalchemy", reason="needs the extra history")
    from forensics.history.lemons import lemons
    from forensics.history.opening import open_store
    from forensics.history.page import page
    from tests.history.made import incident

    store = open_store(":memory:")
    store.add(
        [incident(n, node=f"gpu-{n % 9 if n > 12 else 0}", time=1_700_000_000 + 86_400 * n, gpu_hours=8.0) for n in range(400)]
    )
    return page(store, title, lemons(store, ("gpu_hardware.ecc",), {f"gpu-{n}": 1000.0 for n in range(9)}))


@pytest.mark.parametrize("name", ["report", "undetermined", "healthy", "index", "history"])
def test_axe_finds_no_violation(browser: Any, tmp_path: Path, axe: str, name: str) -> None:
    page = pages(tmp_path)[name]
    for size, scheme, medium in [*product(SIZES, ("light", "dark"), ("", "print"))][::3]:  # each of them, not all pairs
        opened(browser, tmp_path / "r.html", page, size, scheme)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})
        browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
        browser.execute_script(axe)
        assert browser.execute_async_script(AXE) == [], (size, scheme, medium)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def many_rows(number: int) -> list[index.Row]:
    """Cases of two causes; one of four is of the rarer one, one of ten ended well."""
    one = index.index_row(made.report("it broke"), "", "memory")
    other = replace(one, cause="storage.full", title="Storage space ran out or ran low", kind="machine")
    return [
        replace(
            one if i % 4 else other,
            case=f"job{i:04}",
            verdict="no_crash" if i % 10 == 9 else "crash",
            page=f"cases/job{i:04}.html",
            hosts=(f"node{i % 40}",),
            time=made.START + timedelta(minutes=i),
        )
        for i in range(number)
    ]


SHOWN = (
    "return [...document.querySelectorAll('.cases tbody tr')].filter(r => !r.hidden).map(r => r.querySelector('a').textContent)"
)


def test_two_thousand_cases_open_at_once_and_can_be_chosen_from(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})  # processor time: others may be busy, too
    opened(browser, tmp_path / "index.html", index.index_html(many_rows(2000), "incidents"))
    metrics = {m["name"]: m["value"] for m in browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    browser.execute_cdp_cmd("Performance.disable", {})
    assert metrics["TaskDuration"] < 1
    assert browser.get_log("browser") == []
    assert len(browser.execute_script(SHOWN)) == 2000
    browser.find_element(By.CSS_SELECTOR, "a[data-value='storage.full']").click()
    assert len(browser.execute_script(SHOWN)) == 500
    browser.find_element(By.CSS_SELECTOR, "[name=q]").send_keys("job004")
    assert browser.execute_script(SHOWN) == ["job0040", "job0044", "job0048"]
    assert "3 of 2000" in browser.find_element(By.CSS_SELECTOR, "[role=status]").text
    assert browser.execute_script("return location.hash") == "#q=job004&cause=storage.full"
    browser.find_element(By.CSS_SELECTOR, "a[data-value='storage.full']").click()
    browser.find_element(By.CSS_SELECTOR, "[name=failures]").click()
    browser.execute_script(
        "const e = document.querySelector('[name=from]'); e.value = '2026-03-01T12:45'; e.dispatchEvent(new Event('change'))"
    )
    assert browser.execute_script(SHOWN) == ["job0045", "job0046", "job0047", "job0048"]  # 49 ended well
    browser.find_element(By.CSS_SELECTOR, ".column-name .sort").click()
    browser.find_element(By.CSS_SELECTOR, ".column-name .sort").click()
    assert browser.execute_script(SHOWN)[0] == "job0048"
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert len(browser.execute_script(SHOWN)) == 2000
    assert browser.execute_script("return location.hash") == ""


def test_an_address_with_filters_can_be_shared_and_keys_lead_through_the_cases(browser: Any, tmp_path: Path) -> None:
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    opened(browser, tmp_path / "index.html", index.index_html(many_rows(100), "incidents"))
    browser.get("about:blank")  # so that the address is opened anew, and not only its last part
    browser.get((tmp_path / "index.html").as_uri() + "#kind=memory&host=node5&sort=-1")
    assert browser.execute_script(SHOWN) == ["job0085", "job0045", "job0005"]
    at = "const row = document.activeElement.closest('tr'); return row && row.querySelector('a').textContent"
    seen = []
    for key in "jjjk":
        ActionChains(browser).send_keys(key).perform()
        seen.append(browser.execute_script(at))
    assert seen == ["job0085", "job0045", "job0005", "job0045"]
    assert browser.execute_script("return getComputedStyle(document.activeElement.closest('tr')).outlineStyle") == "solid"
    ActionChains(browser).send_keys("/").send_keys("job0005").send_keys(Keys.ESCAPE).perform()
    assert len(browser.execute_script(SHOWN)) == 100  # Esc clears, also what was typed
    ActionChains(browser).send_keys("j").perform()
    with contextlib.suppress(TimeoutException):  # the key opens another page, in which nobody waits for the key any more
        ActionChains(browser).send_keys(Keys.ENTER).perform()
    WebDriverWait(browser, 20).until(lambda b: b.current_url.endswith("/cases/job0000.html"))


def test_a_served_history_is_filtered_paged_and_opened(browser: Any, tmp_path: Path) -> None:
    """With its policy and its form, which only a server's page has."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    with served(tmp_path / "h.db") as address:
        browser.get(address)
        WebDriverWait(browser, 20).until(lambda b: len(b.execute_script(SHOWN)) == 100)  # a busy machine shows the page by parts
        browser.find_element(By.CSS_SELECTOR, "[name=failures]").click()  # asks the server at once
        WebDriverWait(browser, 20).until(lambda b: b.current_url == f"{address}?failures=1")
        browser.find_element(By.CSS_SELECTOR, "[rel=next]").click()
        WebDriverWait(browser, 20).until(lambda b: "before=" in b.current_url and len(b.execute_script(SHOWN)) == 100)
        first = browser.execute_script(SHOWN)[0]
        ActionChains(browser).send_keys("j").perform()
        browser.switch_to.active_element.click()
        assert first in browser.find_element(By.CSS_SELECTOR, "header").text
        assert browser.get_log("browser") == []


@contextlib.contextmanager
def served(place: Path) -> Iterator[str]:
    """The address of a server of a history with 400 incidents."""
    pytest.importorskip("starlette", reason="needs the extra serve")
    uvicorn = pytest.importorskip("uvicorn", reason="needs the extra serve")
    from forensics.adapters.web.server import application
    from tests.adapters.web.test_server import known, stored

    config = uvicorn.Config(application(stored(place, 400), known(), "History"), log_level="warning")
    running = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            running.should_exit = True
            thread.join()


def test_a_card_on_a_phone_begins_with_its_cause(browser: Any, tmp_path: Path) -> None:
    opened(browser, tmp_path / "index.html", index.index_html(many_rows(20), "incidents"), SIZES[1])
    tops = "return ['b', 'a', 'time'].map(name => document.querySelector(`.cases tbody tr ${name}`).getBoundingClientRect().top)"
    found = browser.execute_script(tops)
    assert found == sorted(found) and found[0] < SIZES[1][1]
    assert browser.execute_script("return document.documentElement.scrollWidth") <= SIZES[1][0]


def test_incidents_are_searched_and_lines_are_copied(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    opened(browser, tmp_path / "r.html", render(made.big(60), "html"))
    browser.find_element(By.CSS_SELECTOR, "[data-search]").send_keys("node17")
    rows = "return [...document.querySelectorAll('[data-rows=incidents] tbody tr')].filter(r => !r.hidden).map(r => r.cells[0].textContent)"
    assert browser.execute_script(rows) == ["18"]
    assert browser.execute_script("return document.querySelector('[data-rows=incidents]').closest('details').open")
    button = browser.find_element(By.CSS_SELECTOR, "#e0 [data-copy]")
    assert button.get_attribute("data-copy").startswith("logs/run/train.log:7: ")
    button.click()
    copied = "return document.querySelector('#e0 [data-copy]').textContent == 'copied'"
    WebDriverWait(browser, 20).until(lambda b: b.execute_script(copied))  # the clipboard answers later
