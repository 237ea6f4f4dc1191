"""The JUnit report of a session that was killed before it could write one, in the form that pytest writes (xunit2)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from forensics.report.redaction.door import masked_text

if TYPE_CHECKING:
    from forensics.adapters.pytest.results import TestNotes
    from forensics.adapters.pytest.watched import Death

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(path: Path, death: Death, tests: TestNotes, began: float) -> None:
    """Write the finished tests, the running ones as errors, and the reason as properties of the suite.

    `began`: when the session began, in seconds since 1970. If pytest wrote a report since then, the properties are added to it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and path.stat().st_mtime >= began:
        tree = ElementTree.parse(path).getroot()
        suite = tree.find("testsuite")
    else:
        tree = ElementTree.Element("testsuites")
        suite = _suite(tree, death, tests)
    if suite is not None:
        properties = suite.find("properties")
        if properties is None:
            properties = ElementTree.Element("properties")
            suite.insert(0, properties)
        for name, value in death.properties:
            ElementTree.SubElement(properties, "property", name=name, value=_clean(value))
    ElementTree.ElementTree(tree).write(path, encoding="utf-8", xml_declaration=True)


def _suite(tree: ElementTree.Element, death: Death, tests: TestNotes) -> ElementTree.Element:
    suite = ElementTree.SubElement(tree, "testsuite", name="pytest")
    running = tests.running or ([] if tests.done else ["pytest"])
    for name, note in tests.done.items():
        if name not in running:
            case = _case(suite, name, note["seconds"])
            if note["outcome"] != "passed":
                kind = {"skipped": "skipped", "failed": "failure" if note["when"] == "call" else "error"}[note["outcome"]]
                ElementTree.SubElement(case, kind, message=_clean(note["text"].strip().split("\n")[-1])).text = _clean(
                    note["text"]
                )
    for name in running:
        error = ElementTree.SubElement(_case(suite, name, 0.0), "error", message=_clean(" ".join(death.lines[:3])))
        error.text = _clean("\n".join(death.lines))
    for kind, tag in (("errors", "error"), ("failures", "failure"), ("skipped", "skipped"), ("tests", "testcase")):
        suite.set(kind, str(sum(1 for _ in suite.iter(tag))))
    suite.set("time", f"{sum(note['seconds'] for note in tests.done.values()):.3f}")
    return suite


def _case(suite: ElementTree.Element, nodeid: str, seconds: float) -> ElementTree.Element:
    """tests/test_a.py::TestB::test_c[1] -> classname tests.test_a.TestB, name test_c[1]"""
    address, bracket, parameters = nodeid.partition("[")
    file, *names = address.split("::")
    *classes, name = [file.removesuffix(".py").replace("/", "."), *names]
    return ElementTree.SubElement(
        suite, "testcase", classname=_clean(".".join(classes)), name=_clean(name + bracket + parameters), time=f"{seconds:.3f}"
    )


def _clean(text: str) -> str:
    """`text` without secrets and without characters that XML does not allow."""
    return NOT_XML.sub("?", masked_text(text))
