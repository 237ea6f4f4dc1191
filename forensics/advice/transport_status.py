"""What the status of a request over InfiniBand or RoCE means, from signatures/tables/ib_status.csv.

NET/IB : Got completion from peer 10.1.4.9<41522> with error 12   -> status_text "12 (IBV_WC_RETRY_EXC_ERR)", status_meaning,
                                                                     status_kind "path"
"""

from collections.abc import Sequence

from forensics.database import read_table
from forensics.model import Fields, Proof, Value

STATUS_FACTS = STATUS_TEXT, STATUS_MEANING, STATUS_KIND = "status_text", "status_meaning", "status_kind"
SIGNATURES = ("distributed.network/ib_completion", "distributed.network/perftest")  # whose `status` is such a number or name


def status_facts(facts: Fields, proofs: Sequence[Proof]) -> dict[str, Value]:
    """The name, the meaning and the kind of the status; nothing for other messages and for a status that the table lacks."""
    status = str(facts.get("status", ""))
    if not status or not any(p.signature in SIGNATURES for p in proofs):
        return {}
    row = next((r for r in read_table("ib_status").values() if status in (r["code"], r["name"])), None)
    if row is None:
        return {}
    return {STATUS_TEXT: f"{row['code']} ({row['name']})", STATUS_MEANING: row["meaning"], STATUS_KIND: row["kind"]}
