"""Reads which sections of `minikube logs` tell of what was overcome: a container that was replaced, a start that came to its end.

==> container status <==
CONTAINER      IMAGE          CREATED          STATE    NAME                  ATTEMPT  POD ID         POD
4d2e9ab7c1f05  6e38f40d628db  28 seconds ago   Running  storage-provisioner   1        3452a89c14d76  storage-provisioner
7c01f22b9d3e1  6e38f40d628db  2 minutes ago    Exited   storage-provisioner   0        3452a89c14d76  storage-provisioner

==> storage-provisioner [7c01f22b9d3e] <==
F1106 08:35:39.106220  1 main.go:39] error getting server version: dial tcp 10.96.0.1:443: connect: connection refused

The table tells the present: one of the same name runs, so what ended the one before it was overcome. So does the last line of the
last start: `Done! kubectl is now configured to use "minikube" cluster`. The form: minikube pkg/minikube/logs/logs.go and
node/start.go; the rows are those of `crictl ps -a`, or of `docker ps -a`.
"""

from collections.abc import Iterator

from forensics.core import lazy
from forensics.model import Line, Region, Trigger
from forensics.readers.base import Record

CLUSTER_STARTED = "Done! kubectl is now configured to use "
TRIGGER = Trigger("container_sections", (" <==", CLUSTER_STARTED), after=80)
WAS_REPLACED = "replaced"
OUTCOMES = (WAS_REPLACED,)
SECTION_HEAD = lazy.regex(r"^\W{0,4}==> (?P<name>[\w. -]{1,80}?)(?: \[(?P<id>[0-9a-f]{12})\])? <==\s*$")
STATUS_TABLE, LAST_START = "container status", "Last Start"
STATUS_ROWS = (
    lazy.regex(r"^(?P<id>[0-9a-f]{12})[0-9a-f]?\s{2,}.{1,200}?\s(?P<state>Running|Exited)\s{2,}(?P<name>[\w.-]+)\s"),
    lazy.regex(r"^(?P<id>[0-9a-f]{12})\s{2,}.{1,300}?\s(?P<state>Up|Exited) .{1,120}\sk8s_(?P<name>[^_\s]+)_"),
)
MAX_SECTION_LINES = 70  # of each container minikube quotes the last 60 lines


def read(region: Region) -> Record | None:
    """A section's head, that of the table with the containers that were replaced, or the end of a start."""
    head, is_started = SECTION_HEAD.match(region.text), CLUSTER_STARTED in region.text
    if head is None and not is_started:
        return None
    gone = " ".join(_replaced(region.lines_after())) if head and head["name"] == STATUS_TABLE else ""
    fields = {"section": head["name"] if head else "", "container": (head["id"] if head else "") or "", "replaced": gone}
    return Record("container_sections", region.number, region.number, None, "hint", (region.line,), {**fields})


def _replaced(rows: list[Line]) -> Iterator[str]:
    """The containers that have exited while one of the same name runs."""
    found = [m for line in rows for row in STATUS_ROWS if (m := row.match(line.text))]
    running = {m["name"] for m in found if m["state"] != "Exited"}
    return (m["id"] for m in found if m["state"] == "Exited" and m["name"] in running)


def join(records: list[Record]) -> list[Record]:
    """The sections of the containers that were replaced, and the last start up to its end."""
    gone = {one for record in records for one in str(record.fields["replaced"]).split()}
    found: list[Record] = []
    for i, record in enumerate(records):
        below = records[i + 1] if i + 1 < len(records) else None
        started = record.fields["section"] == LAST_START and below is not None and CLUSTER_STARTED in below.quote[0].text
        if record.fields["container"] in gone or started:
            upto = below.first - (not started) if below else record.first + MAX_SECTION_LINES
            found.append(Record("container_sections", record.first, upto, WAS_REPLACED, "hint", record.quote))
    return found
