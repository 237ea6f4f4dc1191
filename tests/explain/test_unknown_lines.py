"""A line that nobody knows is said to be unknown; what its words are like is a possibility, and no remedy stands beside it."""

import pytest

from forensics.cli.explain import as_text
from forensics.database import Database
from forensics.explain import explain

UNKNOWN = (
    "[E2] 14:03:22 flux: capacitor bank 3 refused lease",
    "E1129 10:00:01.123456   4711 shard_router.cc:512] rebalance of keyspace 7 rejected by coordinator",
    'level=error ts=2026-11-29T10:00:01Z caller=compactor.go:311 component=tsdb msg="compaction plan invalid" block=01HZX',
    '{"level":"error","time":"2026-11-29T10:00:01Z","logger":"orders","msg":"ledger mismatch","expected":41,"got":40}',
    "Nov 29 10:00:01 web1 postfix/smtpd[4711]: warning: hostname mail.example.net does not resolve to address",
    "ERROR:root:tokenizer cache fingerprint mismatch for shard 12",
    "*** glitch in the gearbox: lane 5 lost its tokens ***",
    'FATAL:  role "trainer" is not permitted to log in',
    "ninja: error: loading 'build.zephyr': stale manifest",
    "[rank2]: optimizer shard handshake refused: epoch token 7 != 9",
    "12:03:22.991 |-ERROR in c.q.l.core.rolling - appender stuck in quorum",
    "sched: shard 12: lease expired, giving up",
    "ERROR falcon_io: E4711 shard ring lost its token, giving up after 3 tries",
    "ring_store.c:42: token of lane 5 is stale",
    "pg_rewind: source and target clusters are on different timelines",
)


@pytest.mark.parametrize("line", UNKNOWN)
def test_a_line_that_nobody_knows_is_unknown(line: str, knowledge: Database) -> None:
    found = explain(line, knowledge)
    told = "\n".join(as_text(found))
    assert (found.known, found.causes, found.terms) == (False, (), ())
    assert told.startswith("Nothing is known of ") and "forensics analyze LOG" in told
    assert len(found.possible) <= 2 and all(cause.id in told for cause in found.possible)


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("RuntimeError: quux scheduler returned frobnicated state 0x17", "RuntimeError: The code met a state"),
        ("TypeError: snarf", "TypeError: An operation or a call got an object of a type"),
        ("kiln.core.LaneError: the widget is upside down", "kiln.core.LaneError: A class of the program's own"),
    ],
)
def test_of_an_exception_whose_message_nobody_knows_its_class_is_told(line: str, means: str, knowledge: Database) -> None:
    found = explain(line, knowledge)
    told = "\n".join(as_text(found))
    assert (found.known, found.causes, found.possible) == (False, (), ())
    assert told.startswith("Nothing is known of ") and means in told and "Which line raised it?" in told


@pytest.mark.parametrize(
    "line", ["RuntimeError: CUDA out of memory", "RuntimeError: DataLoader worker is killed by signal: Killed."]
)
def test_a_known_word_behind_the_class_counts(line: str, knowledge: Database) -> None:
    assert explain(line, knowledge).exception is None


def test_a_hang_at_a_barrier_is_explained_by_the_barrier(knowledge: Database) -> None:
    told = explain("why does my job hang at barrier after epoch 1?", knowledge)
    assert told.terms[0].name == "barrier" and "batches" in told.terms[0].means and "left" in told.terms[0].means
    assert [c.cause.id for c in told.causes[:3]] == ["process.stalled", "distributed.timeout", "distributed.peer_lost"]


def test_an_exception_whose_words_suggest_a_cause_is_an_exception(knowledge: Database) -> None:
    found = explain("kiln.core.SchedulerError: bucket 3 has no owner", knowledge)
    assert [c.cause.id for c in found.causes] == ["code.exception"]
    assert [c.id for c in found.possible] == ["data.download"]
    assert "systemctl" not in "\n".join(as_text(found))


@pytest.mark.parametrize(
    "asked",
    ["hangs with num_workers=8", "my training hangs, num_workers is 12", "hang with --num-workers 8"],
)
def test_what_the_question_says_is_so_is_no_remedy(asked: str, knowledge: Database) -> None:
    first = explain(asked, knowledge).causes[0]
    assert first.cause.id == "process.stalled"
    assert not any("more workers" in a.action for a in first.advice)


def test_a_question_that_names_other_settings_keeps_the_remedies(knowledge: Database) -> None:
    found = explain("the run hangs with num_workers=2", knowledge).causes[0].advice
    assert any("more workers" in a.action for a in found)
    assert "num_workers=0" in found[0].action
