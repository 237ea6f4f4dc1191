"""Convert Kubernetes objects (`kubectl get pod|node|events -o json|yaml`) to lines as in `kubectl describe`.

    "lastState": {"terminated": {"exitCode": 137, "finishedAt": "2026-08-22T03:00:07Z", "reason": "OOMKilled"}}

becomes these lines, each with the line number of its value in the file:

    2026-08-22T03:00:07Z Last State:     Terminated
          Exit Code:    137
          Finished:     2026-08-22T03:00:07Z
          Reason:       OOMKilled
"""

from collections.abc import Iterable, Iterator
from typing import Any

from forensics.core import lazy
from forensics.sources.formats.base import Format, Head
from forensics.sources.formats.documents import Path, values
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

API_VERSION_PATTERN = lazy.regex(r'"apiVersion"\s*:\s*"')
YAML_OBJECT_PATTERN = lazy.regex(r"(?m)^(?:- )?apiVersion: \S")
OBJECT_KIND_PATTERN = lazy.regex(
    r"""["']?kind["']?\s*:\s*["']?(?:List|Pod|PodList|Node|NodeList|Observation|EventList|Job|PyTorchJob)\b"""
)
STATES = {"state": "State:", "lastState": "Last State:"}
LABEL_OF_KEY = {
    "reason": "Reason:", "exitCode": "Exit Code:", "message": "Message:", "signal": "Signal:", "startedAt": "Started:",
    "finishedAt": "Finished:", "restartCount": "Restart Count:", "phase": "Status:", "name": "Name:", "namespace": "Namespace:",
    "image": "Image:", "nodeName": "Node:", "type": "Type:", "status": "Status:", "count": "Count:", "node": "Node:",
    "component": "From:",
}  # fmt: skip
TIME_FIELDS = {"lastTimestamp", "eventTime", "lastTransitionTime", "finishedAt"}
SKIPPED_KEYS = {
    "managedFields",
    "annotations",
    "labels",
    "ownerReferences",
    "env",
    "volumes",
    "volumeMounts",
    "images",
    "tolerations",
}
LIMITS = {"limits", "requests"}
YAML_KEY_PATTERN = lazy.regex(r"\A( *)((?:- +)*)([\w./-]+):(?: +(.*))?$")
YAML_ITEM_PATTERN = lazy.regex(r"\A( *)- +(.*)$")

Leaf = tuple[Path, Any, int]


def _json(head: Head) -> bool:
    return head.text.lstrip().startswith("{") and bool(
        API_VERSION_PATTERN.search(head.text[:65536]) and OBJECT_KIND_PATTERN.search(head.text)
    )


def _yaml(head: Head) -> bool:
    if "apiVersion" not in head.text or head.text.lstrip().startswith("{"):
        return False
    return bool(YAML_OBJECT_PATTERN.search(head.text[:4096]) and OBJECT_KIND_PATTERN.search(head.text))


def _described(leaves: Iterable[Leaf]) -> Iterator[Piece]:
    """A line for each value that is used. The state of a container begins with an extra line, which has its time."""
    inside: Path = ()
    group: list[Leaf] = []
    for leaf in leaves:
        if leaf[0][:-1] != inside:
            yield from _group(inside, group)
            inside, group = leaf[0][:-1], []
        if leaf[0] and not SKIPPED_KEYS & set(leaf[0]):
            group.append(leaf)
    yield from _group(inside, group)


def _group(inside: Path, group: list[Leaf]) -> Iterator[Piece]:
    """The lines of one object. If it has a time, the first line begins with that time."""
    time = next((str(v) for path, v, _ in group if path[-1] in TIME_FIELDS and v), "")
    state = STATES.get(str(inside[-2])) if len(inside) > 1 else None
    if state and group:
        yield _piece(group[0][2], f"{time} {state:15} {str(inside[-1]).capitalize()}".strip())
    elif time and group:
        title = next((p for p in reversed(inside) if isinstance(p, str)), "event")  # the last name in its path
        yield _piece(group[0][2], f"{time} {title}".rstrip())
    for path, value, line in group:
        name = LABEL_OF_KEY.get(str(path[-1]))
        if name and value not in (None, ""):
            yield _piece(line, f"      {name:13} {value}")
        elif inside and inside[-1] in LIMITS:
            yield _piece(line, f"      {str(inside[-1]).capitalize()}: {path[-1]}: {value}")


def _piece(line: int, text: str) -> Piece:
    return line, 0, text.encode("utf-8", "replace")


def _leaves(blocks: Iterator[bytes]) -> Iterator[Leaf]:
    """The single values of block-style YAML, as kubectl writes it. The further lines of a folded value are joined to it."""
    stack: list[tuple[int, str]] = []
    held: Leaf | None = None
    for number, raw in numbered_lines(blocks):
        line = raw.decode("utf-8", "replace")
        key = YAML_KEY_PATTERN.match(line)
        if key is None:
            if held and line.strip() and not YAML_ITEM_PATTERN.match(line):
                held = (held[0], f"{held[1]} {line.strip()}", held[2])
            continue
        if held:
            yield _bare(held)
        held = None
        indent = len(key[1]) + len(key[2])
        while stack and stack[-1][0] >= indent:
            stack.pop()
        value = (key[4] or "").strip()
        path = (*(name for _, name in stack), key[3])
        if value in ("", "|", "|-", ">", ">-"):
            stack.append((indent, key[3]))
        if value:
            held = (path, "" if value in ("|", "|-", ">", ">-") else value, number)
    if held:
        yield _bare(held)


def _bare(leaf: Leaf) -> Leaf:
    """A value without its quotes."""
    text = str(leaf[1]).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return leaf[0], text, leaf[2]


JSON_SAMPLE, YAML_SAMPLE = b'{"apiVersion": "v1", "kind": "Pod"}\n', b"apiVersion: v1\nkind: Pod\n"
FORMATS = (
    Format("kubernetes json", _json, lambda blocks, note: _described(values(blocks, note)), JSON_SAMPLE, rank=30),
    Format("kubernetes yaml", _yaml, lambda blocks, _: _described(_leaves(blocks)), YAML_SAMPLE, rank=30),
)
