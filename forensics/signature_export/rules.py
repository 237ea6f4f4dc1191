"""Rules: which signatures and codes a monitor can look for, with patterns that keep their examples, and what is lost.

Write rules as files of monitors: node-problem-detector, Loki's ruler, Prometheus, HyperPod's training operator.

npd         JSON of its system-log-monitor; a proof of broken hardware is a condition of the node, all else an event
loki        rule groups with LogQL: {...} |~ `pattern` !~ `veto`
prometheus  rule groups over the counter that node-problem-detector exports for the reasons of `npd`
hyperpod    logMonitoringConfiguration of a HyperPodPyTorchJob
"""

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from forensics.database import Cause, Signature
from forensics.database.conditions import EARLIER_REMEDY
from forensics.database.entries import WEIGHT_NAMES
from forensics.database.tables import read_rows
from forensics.signature_export.re2 import LABELLED_START, LINE_START, NotInRe2Error, rewrite

NODE_FAMILIES = frozenset(("gpu_hardware", "gpu_driver", "host_hardware", "host_memory", "host_os", "storage"))
HARDWARE_FAMILIES = frozenset(("gpu_hardware", "host_hardware"))
NOT_FAULTS = "none"  # the family of what is no failure
SEVERE_TRAITS = frozenset(("device_fault", "machine_fault", "kernel_fault"))
ROLE_NAMES = {"root": "root", "secondary": "consequence", "victim": "consequence"}
SEVERITY_OF_ROLE = {"root": "critical", "consequence": "warning", "information": "info"}
# A program's own error in a kernel's line: an address, an instruction, a channel that ended with it (NVIDIA's catalogue of Xids).
APPLICATION_XIDS = frozenset(("13", "31", "43", "45"))
XID_LINE = r"NVRM: Xid \([^)\n]{1,60}\): 0*%s(?:[^0-9]|$)"
SXID_LINE = r"SXid \([^)\n]{1,60}\): 0*%s(?:[^0-9]|$)"


Advised = Callable[[str, str], Sequence[str]]  # (cause, line) -> the remedies of a report of this line


class Rule(Struct, frozen=True):
    """One rule. `pattern`, `vetoes`: RE2, searched in one line. `hardware`: proves that a part of the node is broken.
    `on_node`: the kernel or a service of the node writes the line."""

    id: str
    cause: str
    title: str
    severity: str
    role: str
    pattern: str
    vetoes: tuple[str, ...] = ()
    remedy: str = ""
    command: str = ""
    hardware: bool = False
    on_node: bool = False
    matches: tuple[str, ...] = ()
    matches_not: tuple[str, ...] = ()


class Loss(Struct, frozen=True):
    """A signature that is not exported, or exported with less than it says; why."""

    id: str
    why: str
    exported: bool


class Rules(Struct, frozen=True):
    """What a target can use."""

    rules: tuple[Rule, ...]
    losses: tuple[Loss, ...]


def nothing_advised(_cause: str, _line: str) -> tuple[str, ...]:
    """No remedies: for rules of which only the patterns are wanted."""
    return ()


def collect(
    causes: Iterable[Cause], weight: str, families: Sequence[str], on_node: bool, vetoes: bool, advised: Advised = nothing_advised
) -> Rules:
    """The rules of signatures of at least `weight`, of `families` if there are some, and of a node's own log if `on_node`.

    `vetoes`: the target knows them; one that does not gets no rule of a signature that has some. `advised`: the
    remedies that a report of one line shows, if this is the cause it names.
    """
    wanted = WEIGHT_NAMES[: WEIGHT_NAMES.index(weight) + 1]
    by_id = {c.id: c for c in causes}
    rules: list[Rule] = []
    losses: list[Loss] = []
    for cause in by_id.values():
        family = cause.id.split(".")[0]
        if family == NOT_FAULTS or (families and family not in families and cause.id not in families):
            continue
        for signature in cause.signatures:
            node = "kernel" in signature.scope or (family in NODE_FAMILIES and "any" in signature.scope)
            if signature.weight not in wanted or (on_node and not node):
                continue
            rule, why = _rule(cause, signature, node, vetoes)
            rules += [with_remedy(rule, cause, advised)] if rule else []
            losses += [Loss(signature.id, why, rule is not None)] if why else []
    coded = (r for r in _codes(by_id) if r.cause.split(".")[0] != NOT_FAULTS)
    rules += [r for r in coded if not families or r.cause in families or r.cause.split(".")[0] in families]
    return Rules(tuple(rules), tuple(losses))


def _rule(cause: Cause, signature: Signature, node: bool, with_vetoes: bool) -> tuple[Rule | None, str]:
    """The rule of a signature, and what it loses; empty for nothing."""
    why = ""
    if signature.unless and not with_vetoes:
        return None, "its vetoes cannot be said"
    for start in (LINE_START, LABELLED_START):
        try:
            made = rewrite(signature.pattern, start)
            vetoes = [rewrite(veto, start) for veto in signature.unless]
        except NotInRe2Error as error:
            return None, str(error)
        own = tuple(v.pattern for v in vetoes)
        for chosen in ((*own, *made.vetoes), own) if with_vetoes else ((),):
            rule = _of(cause, signature, made.pattern, tuple(dict.fromkeys(chosen)), node)
            why = fault(rule)
            if not why:
                lost = "a look-around" if made.vetoes and len(chosen) < len({*own, *made.vetoes}) else ""
                kept = structs.replace(rule, hardware=rule.hardware and not lost)
                return kept, f"exported without {lost}" if lost else ""
    return None, why


def _of(cause: Cause, signature: Signature, pattern: str, vetoes: tuple[str, ...], node: bool) -> Rule:
    severe = bool(SEVERE_TRAITS & set(cause.traits)) and signature.ends not in ("nothing", "later")
    severity = "critical" if severe else "info" if signature.ends == "nothing" else "warning"
    hardware = severe and signature.weight == "proof" and cause.id.split(".")[0] in HARDWARE_FAMILIES
    return Rule(
        id=signature.id, cause=cause.id, title=cause.title, severity=severity, role="root", pattern=pattern, vetoes=vetoes,
        hardware=hardware, on_node=node,
        matches=tuple(e.text for e in signature.match), matches_not=tuple(e.text for e in signature.no_match),
    )  # fmt: skip


def with_remedy(rule: Rule, cause: Cause, advised: Advised) -> Rule:
    """`rule` with the first remedy that needs no field of a case and that reports of all its examples show, and with its command;
    where they show none, with the last resort of the cause: a remedy whose condition does not hold may say the opposite."""
    shown = [[action.lower() for action in advised(cause.id, text)] for text in rule.matches]
    able = [remedy for remedy in cause.remedies if "{" not in remedy.do]
    told = (r for r in able if all(any(r.do.lower() in action for action in actions) for actions in shown))
    remedy = next(told, None) or next((r for r in able if not r.when and {*r.unless} <= {EARLIER_REMEDY}), None)
    if remedy is None:
        return rule
    return structs.replace(rule, remedy=remedy.do, command=next((c for c in remedy.commands if "{" not in c), ""))


def fault(rule: Rule) -> str:
    """What is wrong with a rule by its own examples; empty for nothing."""
    for text in rule.matches:
        if not finds(rule, text):
            return "does not match its own example"
    return next((f"matches what it must not: {text[:80]}" for text in rule.matches_not if finds(rule, text)), "")


def finds(rule: Rule, line: str) -> bool:
    """Does the rule fire on this line?"""
    return bool(_compiled(rule.pattern).search(line)) and not any(_compiled(veto).search(line) for veto in rule.vetoes)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    r"""The pattern for Python; it spells two things otherwise: \z and \x{41}."""
    spelt = re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: f"\\U{int(found[1], 16):08x}", pattern.replace(r"\z", r"\Z"))
    return re.compile(spelt, re.ASCII)


def _codes(causes: Mapping[str, Cause]) -> Iterator[Rule]:
    """The rules of the tables of Xid and SXid."""
    for row in read_rows("xid"):
        role = "information" if row["severity"] == "info" else ROLE_NAMES[row["role"]]
        own = row["code"] not in APPLICATION_XIDS and row["severity"] == "fatal" and role == "root"
        sample = f"NVRM: Xid (PCI:0000:3b:00): {row['code']}, pid=4711, name=python"
        yield _code(f"xid_{row['code']}", f"Xid {row['code']}", row, XID_LINE, role, own, sample, causes)
    for row in read_rows("sxid"):
        role = "root" if row["severity"] == "fatal" else "information"
        sample = f"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {row['code']}, Non-fatal, Link 28"
        yield _code(f"sxid_{row['code']}", f"SXid {row['code']}", row, SXID_LINE, role, role == "root", sample, causes)


def _code(
    name: str, label: str, row: Mapping[str, str], line: str, role: str, own: bool, sample: str, causes: Mapping[str, Cause]
) -> Rule:
    cause = row["cause"]
    hardware = own and cause.split(".")[0] in HARDWARE_FAMILIES
    severity = SEVERITY_OF_ROLE[role]
    later = row.get("escalation", "")
    remedy = f"{row['action']}; then: {later}" if later and later != "nothing" else row["action"]
    if row["code"] in APPLICATION_XIDS and name.startswith("xid_"):
        severity = "warning"  # the program is to be mended, and no node
    return Rule(
        id=f"{cause}/{name}", cause=cause, title=f"{label} {row['name']}: {row['meaning']}", severity=severity, role=role,
        pattern=line % row["code"], remedy=remedy, command=f"forensics explain {label}", hardware=hardware, on_node=True,
        matches=(sample,), matches_not=(sample.replace(f": {row['code']},", f": 9{row['code']},"),),
    )  # fmt: skip


REST_OF_LINE = ".*"  # node-problem-detector and HyperPod want a match up to the end of the line
WINDOW = "5m"  # chosen by hand: an alert stays for so long after the last line
NPD_BUFFER_LINES = 10  # of node-problem-detector: its own default
BY_LINE = "what helps depends on the line: give it to `forensics explain`"  # where the examples of a rule have different remedies
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
    """The query that finds the lines of a rule, by stream: an alert keeps its labels, so it tells the pod and the host."""
    filters = "".join([f" |~ `{rule.pattern}`", *(f" !~ `{veto}`" for veto in rule.vetoes)])
    return f"count_over_time({setting.selector}{filters} [{WINDOW}]) > 0"


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
            notes = {
                "summary": rule.title,
                "remedy": rule.remedy or BY_LINE,
                "command": rule.command,
                "page": page(rule.cause, setting),
            }
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
        for r in rules if r.severity != "info" and not r.pattern.startswith((XID_LINE.split("%")[0], SXID_LINE.split("%")[0]))
    ]  # fmt: skip
    return str(yaml.dump({"logMonitoringConfiguration": listed}, sort_keys=False, width=1 << 20, allow_unicode=True))


TARGETS = {
    "npd": Target(True, False, npd),
    "loki": Target(False, True, loki),
    "prometheus": Target(True, False, prometheus),
    "hyperpod": Target(False, False, hyperpod),
}
