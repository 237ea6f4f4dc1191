"""Exported rules keep their signature's examples, under the engine of the monitors themselves."""

import functools
import json
import re
from typing import Any

import pytest
import yaml

from forensics.cli.signatures import reports_of_lines
from forensics.database import builtin_folder, read_folders
from forensics.signature_export.rules import (
    APPLICATION_XIDS,
    TARGETS,
    Rule,
    Rules,
    Setting,
    collect,
    loki,
    nothing_advised,
    with_remedy,
)

EVERY = 12  # of the rules in a quick run: RE2 takes 10 s to compile all; Python's engine has tried each when it was made
WRITTEN = 40  # rules of each target whose written form is read again; how one is written does not depend on which it is


@functools.cache
def exported(form: str) -> Rules:
    target = TARGETS[form]
    causes, _ = read_folders([builtin_folder()])
    return collect(causes, "strong", (), target.on_node, target.vetoes)


@pytest.mark.parametrize(
    "each", [pytest.param(1, marks=pytest.mark.slow), pytest.param(EVERY, marks=pytest.mark.seconds)], ids=["all", "some"]
)
def test_an_exported_rule_fires_on_its_examples_and_on_no_negative_one_under_re2(each: int) -> None:
    re2 = pytest.importorskip("re2", reason="google-re2 is not installed")

    def compiled(pattern: str) -> Any:
        options = re2.Options()
        options.log_errors, options.max_mem = False, 64 << 20
        if r"\x{" in pattern:
            return re2.compile(pattern.encode(), options)
        options.encoding = re2.Options.Encoding.LATIN1  # compiled in half the time, and the same for ASCII
        return re2.compile(pattern.encode(), options)

    wrong = []
    for rule in exported("loki").rules[::each]:
        pattern, vetoes = compiled(rule.pattern), [compiled(veto) for veto in rule.vetoes]
        for texts, wanted in ((rule.matches, True), (rule.matches_not, False)):
            for text in map(str.encode, texts):
                fires = bool(pattern.search(text)) and not any(veto.search(text) for veto in vetoes)
                wrong += [f"{rule.id}: {text!r}"] if fires is not wanted else []
    assert not wrong


@pytest.mark.seconds
@pytest.mark.parametrize(("form", "least"), [("loki", 1900), ("npd", 900)])
def test_most_signatures_are_exported_and_each_that_is_not_says_why(form: str, least: int) -> None:
    found = exported(form)
    assert len(found.rules) >= least
    assert all(loss.why for loss in found.losses)


def test_an_application_s_xid_is_never_a_condition_of_the_node() -> None:
    broken = [r for r in exported("npd").rules if r.hardware]
    assert any("Xid 79" in r.title for r in broken)
    for code in APPLICATION_XIDS:
        line = f"NVRM: Xid (PCI:0000:3b:00): {code}, pid=4711, name=python, Ch 00000008"
        assert not [r.id for r in broken if re.search(r.pattern.replace(r"\z", r"\Z"), line)]


def few(form: str) -> list[Rule]:
    return list(exported(form).rules[:: len(exported(form).rules) // WRITTEN])


def test_node_problem_detector_gets_what_its_types_name() -> None:
    written: dict[str, Any] = json.loads(TARGETS["npd"].write(exported("npd").rules, Setting()))
    assert written["plugin"] == "kmsg"
    assert all(set(c) == {"type", "reason", "message"} for c in written["conditions"])
    known = {c["type"] for c in written["conditions"]}
    for rule in written["rules"]:
        assert set(rule) <= {"type", "condition", "reason", "pattern", "patternGeneratedMessageSuffix"}
        assert (rule["type"] == "permanent") == ("condition" in rule)
        assert rule.get("condition", next(iter(known))) in known
        assert rule["pattern"].endswith(".*")
    assert len({r["reason"] for r in written["rules"]}) == len(written["rules"])


def test_a_rule_of_loki_holds_pattern_and_vetoes_in_quotes_that_nothing_closes_early() -> None:
    rules = [r for r in exported("loki").rules if r.vetoes][:WRITTEN]
    groups = yaml.safe_load(TARGETS["loki"].write(rules, Setting(site="https://example.org")))["groups"]
    said = {each["alert"]: each for group in groups for each in group["rules"]}
    assert len(said) == len(rules)
    for rule in rules:
        expression = next(each["expr"] for each in said.values() if f"`{rule.pattern}`" in each["expr"])
        filters = re.findall(r" (\|~|!~) `([^`]*)`", expression)
        assert filters == [("|~", rule.pattern), *(("!~", veto) for veto in rule.vetoes)]
    assert all(a["annotations"]["page"].startswith("https://example.org/causes/") for a in said.values())


def test_prometheus_asks_for_the_reasons_that_node_problem_detector_gets() -> None:
    rules = few("npd")
    reasons = {r["reason"] for r in json.loads(TARGETS["npd"].write(rules, Setting()))["rules"]}
    groups = yaml.safe_load(TARGETS["prometheus"].write(rules, Setting()))["groups"]
    assert {re.findall(r'reason="(\w+)"', r["expr"])[0] for g in groups for r in g["rules"]} == reasons
    assert {r["labels"]["severity"] for g in groups for r in g["rules"]} <= {"critical", "warning", "info"}


def test_hyperpod_gets_names_and_patterns_of_whole_lines() -> None:
    listed = yaml.safe_load(TARGETS["hyperpod"].write(few("loki"), Setting()))["logMonitoringConfiguration"]
    assert listed
    assert all(set(r) == {"name", "logPattern", "faultOnMatch"} and r["logPattern"].startswith(".*(?:") for r in listed)


@pytest.mark.parametrize(
    "families",
    [
        pytest.param((), marks=pytest.mark.slow),
        pytest.param(("gpu_hardware.ecc", "host_hardware.memory", "host_os.panic"), marks=pytest.mark.seconds),
    ],
    ids=["all", "some"],
)
def test_a_rule_s_remedy_is_one_that_a_report_of_its_examples_shows(families: tuple[str, ...]) -> None:
    causes, _ = read_folders([builtin_folder()])
    with reports_of_lines(()) as advised:
        rules = {
            r.id: r for r in collect(causes, "strong", families, False, True, advised).rules if r.matches and "xid_" not in r.id
        }
        told = {r.id: [advised(r.cause, text) for text in r.matches] for r in rules.values() if r.remedy}
    assert len(told) > len(rules) / 2
    resorts = {(c.id, r.do) for c in causes for r in c.remedies if not r.when and {*r.unless} <= {"earlier_remedy"}}
    wrong = [i for i, shown in told.items() if not all(rules[i].remedy.lower() in "\n".join(a).lower() for a in shown)]
    assert [i for i in wrong if (rules[i].cause, rules[i].remedy) not in resorts] == []
    assert not [i for i in told if "uncontained" in i and "was contained" in rules[i].remedy]
    assert "was contained" in rules["gpu_hardware.ecc/contained"].remedy


def test_a_remedy_that_not_every_example_asks_for_is_in_no_rule() -> None:
    cause = next(c for c in read_folders([builtin_folder()])[0] if c.id == "gpu_hardware.ecc")
    rule = Rule("gpu_hardware.ecc/x", cause.id, "", "warning", "root", "x", matches=("one", "two"))
    first, second = [r.do for r in cause.remedies if "{" not in r.do][:2]
    assert with_remedy(rule, cause, nothing_advised).remedy == ""
    assert with_remedy(rule, cause, lambda _, line: (second, first) if line == "one" else (f"If so: {second}",)).remedy == second


def test_where_no_remedy_fits_all_examples_the_last_resort_of_the_cause_is_told() -> None:
    cause = next(c for c in read_folders([builtin_folder()])[0] if c.id == "gpu_memory.capacity")
    rule = Rule("gpu_memory.capacity/x", cause.id, "", "warning", "root", "x", matches=("one",))
    assert with_remedy(rule, cause, nothing_advised).remedy == "Ask for less GPU memory at once, or take a device with more"


def test_an_alert_without_a_remedy_says_how_to_get_one() -> None:
    rule = Rule("code.shape/x", "code.shape", "t", "warning", "root", "x")
    assert "remedy: 'what helps depends on the line: give it to `forensics explain`'" in loki([rule], Setting())


def test_what_tells_of_no_fault_has_no_rule() -> None:
    assert not [r.id for r in exported("loki").rules if r.cause.startswith("none.")]


def test_what_an_xid_asks_for_later_is_told() -> None:
    rules = {r.id.partition("/")[2]: r for r in exported("npd").rules}
    assert rules["xid_154"].remedy.startswith("do what its text names: reset, reboot, drain")
    assert "then: " in rules["xid_64"].remedy


def test_a_signature_with_vetoes_has_a_rule_only_where_vetoes_can_be_said() -> None:
    vetoed = {s.id for c in read_folders([builtin_folder()])[0] for s in c.signatures if s.unless}
    assert vetoed & {r.id for r in exported("loki").rules}
    for target in ("npd", "prometheus", "hyperpod"):
        assert not vetoed & {r.id for r in exported(target).rules}
    told = {loss.id: loss.why for loss in exported("npd").losses if not loss.exported}
    assert all(told[i] == "its vetoes cannot be said" for i in vetoed & told.keys())
