r"""Write rules as files of monitors: node-problem-detector, Loki's ruler, Prometheus, HyperPod's training operator.

npd         JSON of its system-log-monitor; a proof of broken hardware is a condition of the node, all else an event
loki        rule groups with LogQL: {...} |~ `pattern` !~ `veto`
prometheus  rule groups over the counter that node-problem-detector exports for the reasons of `npd`
hyperpod    logMonitoringConfiguration of a HyperPodPyTorchJob
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from forensics.signature_export.rules import HARDWARE_FAMILIES, SXID_LINE, XID_LINE, Rule

REST_OF_LINE = ".*"  # node-problem-detector and HyperPod want a match up to the end of the line
WINDOW = "5m"  # chosen by hand: an alert stays for so long after the last line
NPD_BUFFER_LINES = 10  # of node-problem-detector: its own default
SUFFIX_CHARS = 300  # of an event's message: what Kubernetes shows without cutting (1,024) with a line of the log before it


class Setting(Struct, frozen=True):
    """What the user says: `selector` of Loki's streams, `site` where the pages of causes are; empty for none."""

    selector: str = '{job=~".+"}'
    site: str = ""


class Target(Struct, frozen=True):
    """A format: does it read a node's log alone, does it know vetoes, and its writer."""

    on_node: bool
    vetoes: bool
    write: Callable[[Iterable[Rule], Setting], str]


def camel_case(id_: str) -> str:
    """`host_os.panic/panic` -> `HostOsPanicPanic`: a name for alerts, reasons and conditions."""
    return "".join(part[:1].upper() + part[1:] for part in id_.replace(".", "_").replace("/", "_").replace("-", "_").split("_"))


def page(cause: str, setting: Setting) -> str:
    """Where the cause is explained: its page, or the command."""
    return f"{setting.site.rstrip('/')}/causes/{cause}/" if setting.site else f"forensics explain {cause}"


def npd(rules: Iterable[Rule], setting: Setting) -> str:
    """The configuration of a system-log-monitor. Its patterns see the last lines joined: a start is that of a line."""
    rules = list(rules)
    families = sorted({rule.cause.split(".")[0] for rule in rules if rule.hardware} & HARDWARE_FAMILIES)
    conditions = [
        {"type": camel_case(f) + "Fault", "reason": "No" + camel_case(f) + "Fault", "message": f"no fault of {f} is known"}
        for f in families
    ]
    written = {"plugin": "kmsg", "logPath": "/dev/kmsg", "lookback": WINDOW, "bufferSize": NPD_BUFFER_LINES}
    written |= {"source": "forensics", "metricsReporting": True, "conditions": conditions}
    written |= {"rules": [_npd_rule(rule, setting) for rule in rules]}
    return json.dumps(written, indent=2, ensure_ascii=True) + "\n"


def _npd_rule(rule: Rule, setting: Setting) -> dict[str, str]:
    kind = {"type": "permanent", "condition": camel_case(rule.cause.split(".")[0]) + "Fault"} if rule.hardware else {}
    said = f" [{rule.cause}: {rule.remedy or rule.title}; {page(rule.cause, setting)}]"
    return {
        "type": "temporary", **kind, "reason": camel_case(rule.id), "pattern": f"(?m:{rule.pattern}){REST_OF_LINE}",
        "patternGeneratedMessageSuffix": said[:SUFFIX_CHARS],
    }  # fmt: skip


def loki(rules: Iterable[Rule], setting: Setting) -> str:
    """Rule groups of Loki's ruler, one for each family."""
    return _groups((rule, logql(rule, setting)) for rule in rules)(setting)


def logql(rule: Rule, setting: Setting) -> str:
    """The query that finds the lines of a rule."""
    filters = "".join([f" |~ `{rule.pattern}`", *(f" !~ `{veto}`" for veto in rule.vetoes)])
    return f"sum(count_over_time({setting.selector}{filters} [{WINDOW}])) > 0"


def prometheus(rules: Iterable[Rule], setting: Setting) -> str:
    """Rule groups over problem_counter, by the reasons that `npd` gives."""
    return _groups((r, f'increase(problem_counter{{reason="{camel_case(r.id)}"}}[{WINDOW}]) > 0') for r in rules)(setting)


def _groups(asked: Iterable[tuple[Rule, str]]) -> Callable[[Setting], str]:
    import yaml

    pairs = list(asked)

    def written(setting: Setting) -> str:
        groups: dict[str, list[dict[str, Any]]] = {}
        for rule, query in pairs:
            labels = {"severity": rule.severity, "cause": rule.cause, "family": rule.cause.split(".")[0], "role": rule.role}
            # `{{` begins a template in an annotation
            notes = {"summary": rule.title, "remedy": rule.remedy, "command": rule.command, "page": page(rule.cause, setting)}
            notes = {key: text.replace("{{", "{ {") for key, text in notes.items() if text}
            alert = {"alert": camel_case(rule.id), "expr": query, "labels": labels, "annotations": notes}
            groups.setdefault(f"forensics_{labels['family']}", []).append(alert)
        listed = [{"name": name, "rules": rules} for name, rules in sorted(groups.items())]
        return str(yaml.dump({"groups": listed}, sort_keys=False, width=1 << 20, allow_unicode=True))

    return written


def hyperpod(rules: Iterable[Rule], setting: Setting) -> str:
    """The list logMonitoringConfiguration: a match is a fault, and the operator restarts the job."""
    import yaml

    listed = [
        {"name": camel_case(r.id), "logPattern": f"{REST_OF_LINE}(?:{r.pattern}){REST_OF_LINE}", "faultOnMatch": True}
        for r in rules if r.severity != "info" and not _is_code(r)
    ]  # fmt: skip
    return str(yaml.dump({"logMonitoringConfiguration": listed}, sort_keys=False, width=1 << 20, allow_unicode=True))


def _is_code(rule: Rule) -> bool:
    """A kernel's line, which no pod writes."""
    return rule.pattern.startswith((XID_LINE.split("%")[0], SXID_LINE.split("%")[0]))


TARGETS = {
    "npd": Target(True, False, npd),
    "loki": Target(False, True, loki),
    "prometheus": Target(True, False, prometheus),
    "hyperpod": Target(False, False, hyperpod),
}
