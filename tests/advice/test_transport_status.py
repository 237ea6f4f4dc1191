"""What the status of a request over InfiniBand means: by number and by name, and only for messages that have such a status."""

import pytest

from forensics.advice.log_facts import status_facts
from forensics.model import Proof

NCCL = Proof("train.log", 3, "Got completion from peer 10.1.4.9<41522>", "distributed.network/ib_completion", "proof")


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        ("12", "12 (IBV_WC_RETRY_EXC_ERR)", "path"),
        ("IBV_WC_RETRY_EXC_ERR", "12 (IBV_WC_RETRY_EXC_ERR)", "path"),
        ("4", "4 (IBV_WC_LOC_PROT_ERR)", "memory"),
        ("13", "13 (IBV_WC_RNR_RETRY_EXC_ERR)", "peer"),
    ],
)
def test_a_status_has_its_name_and_kind(status: str, text: str, kind: str) -> None:
    found = status_facts({"status": status}, [NCCL])
    assert (found["status_text"], found["status_kind"]) == (text, kind)
    assert found["status_meaning"]


def test_other_messages_and_unknown_numbers_have_none() -> None:
    other = Proof("train.log", 3, "RC: 4", "distributed.network/ofi_request", "strong")
    assert status_facts({"status": "4"}, [other]) == {}
    assert status_facts({"status": "99"}, [NCCL]) == {}
    assert status_facts({}, [NCCL]) == {}
