"""Stand-ins for names: the same everywhere, everything that tells who and where, and the key for the owner."""

import re
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import pytest
from msgspec import inspect
from msgspec.structs import replace

from forensics.model import Advice, Report
from forensics.model.answers import Change, History, NodeCount
from forensics.report import formats, render, with_stand_ins
from forensics.report.redaction.names import OWN_WORDS, Names
from tests.report import made

LINE = (
    "Mar  1 12:00:00 gpu-node17 kernel: user=alice job_name=llama-sft-42 from 10.4.0.17 [2001:db8::7]:29500 "
    "mail bob.smith@corp.example.org at /home/alice/run/train.py, node0231.cluster.local, C:\\Users\\bob.smith\\x"
)


@pytest.fixture
def both():  # type: ignore[no-untyped-def]
    return with_stand_ins(made.report(LINE, case="llama-sft-42"))


@pytest.mark.parametrize("form", formats())
def test_no_format_tells_a_name(both, form: str) -> None:  # type: ignore[no-untyped-def]
    text = render(both[0], form)
    for name in (
        "gpu-node17",
        "alice",
        "carol",
        "llama-sft-42",
        "10.4.0.17",
        "2001:db8::7",
        "bob.smith",
        "corp.example",
        "node0231",
    ):
        assert name not in text, name


def test_the_key_turns_every_stand_in_back(both) -> None:  # type: ignore[no-untyped-def]
    report, key = both
    assert sorted(key.values()) == sorted(
        [
            "gpu-node17",
            "alice",
            "bob.smith",
            "llama-sft-42",
            "10.4.0.17",
            "2001:db8::7",
            "bob.smith@corp.example.org",
            "node0231.cluster.local",
        ]
    )
    text = report.causes[0].evidence[0].text
    for stand_in, name in sorted(key.items(), key=lambda kv: -len(kv[0])):
        text = text.replace(stand_in, name)
    assert text == LINE


def test_stand_ins_are_stable_and_tell_the_kind(both) -> None:  # type: ignore[no-untyped-def]
    report, _ = both
    line = report.causes[0].evidence[0].text
    assert "/home/user-1/run/train.py" in line
    assert "user=user-1" in line
    assert " host-1 kernel:" in line
    assert report.case == "job-1"
    assert report.causes[0].summary == f"It was {line}."
    assert with_stand_ins(report) == (report, {})


def test_facts_and_hosts_of_incidents_are_names_too() -> None:
    report = made.report("killed on node trn7 by someone", case="x")
    report = replace(
        report,
        causes=(replace(report.causes[0], facts={"host": "trn7"}), *report.causes[1:]),
        incidents=(replace(report.incidents[0], hosts=("trn7",)),),
    )
    assert "trn7" not in render(with_stand_ins(report)[0], "json")


def test_the_user_of_an_address_is_a_name() -> None:
    report, key = with_stand_ins(made.report("refused by postgres://carol:pw@127.0.0.1:5432/runs", case="x"))
    assert key == {"user-1": "carol"}
    assert "carol" not in render(report, "json")


def test_words_addresses_of_this_machine_and_public_sites_stay() -> None:
    line = "kernel: user=root at localhost 127.0.0.1 0.0.0.0 https://pytorch.org/docs 08:23:04 0000:3b:00.0 torch 2.4.0"
    report, key = with_stand_ins(made.report(line, case="x"))
    assert key == {}
    assert report.causes[0].evidence[0].text == line


def test_names_that_only_notices_or_the_ending_tell_are_hidden() -> None:
    report = made.report("words", case="x")
    assert report.subject
    ended = ("logs/run/train.log:7: Mar  1 12:00:00 gpu-node17 kernel: Killed process 4711",)
    subject = replace(report.subject, name="llama-sft-42 and tune9-b", outcome_lines=ended)
    notice = replace(report.notices[1], text="Mar  1 12:00:00 gpu-node18 slurmd: x", why="it wrote to /home/carol/run")
    hid, key = with_stand_ins(replace(report, subject=subject, notices=(notice,)))
    names = {"gpu-node17", "gpu-node18", "carol", "llama-sft-42", "tune9-b"}
    assert names <= set(key.values())
    for form in formats():
        text = render(hid, form)
        assert [name for name in names if name in text] == []
    assert hid.subject and hid.subject.name == "job-1 and job-2"


def test_names_of_earlier_attempts_and_of_the_history_are_hidden() -> None:
    report = made.report("words", case="x")
    changes = (Change("node", "trn7, trn8", "trn9", 3, 9), Change("job", "sft17", "sft18", 3, 9))
    told = replace(
        report,
        earlier_attempts=(replace(report.earlier_attempts[0], changes=changes),),
        history=History("e", "s", "similar", 3, node_count=1, nodes=(NodeCount("trn6", 3),)),
    )
    text = render(with_stand_ins(told)[0], "json")
    assert not [name for name in ("trn6", "trn7", "trn8", "trn9", "sft17", "sft18") if name in text]


def _filled(kind: inspect.Type, texts: Iterator[str], field: str = "") -> Any:
    """A value of this type, with the next of `texts` in each place where it holds text."""
    if isinstance(kind, inspect.StructType):
        return kind.cls(**{f.name: _filled(f.type, texts, f"{kind.cls.__name__}.{f.name}") for f in kind.fields})
    if isinstance(kind, inspect.StrType):
        PLACES.append(field)
        return next(texts)
    if isinstance(kind, inspect.UnionType):
        return _filled(next(t for t in kind.types if not isinstance(t, inspect.NoneType)), texts, field)
    if isinstance(kind, inspect.VarTupleType):
        return (_filled(kind.item_type, texts, field),)
    if isinstance(kind, inspect.TupleType):
        return tuple(_filled(t, texts, field) for t in kind.item_types)
    if isinstance(kind, inspect.DictType):
        return {1 if isinstance(kind.key_type, inspect.IntType) else "key": _filled(kind.value_type, texts, field)}
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    if isinstance(kind, inspect.DateTimeType):
        return made.START
    return {inspect.IntType: 1, inspect.FloatType: 0.5, inspect.BoolType: True}[type(kind)]


PLACES: list[str] = []  # the field of each text, in order
FORM_OF_A_REPORT = inspect.type_info(Report)
_filled(FORM_OF_A_REPORT, repeat("x"))
FIELDS = tuple(PLACES)
OF_A_LOG = tuple(dict.fromkeys(f for f in FIELDS if not OWN_WORDS.match(f)))
OF_ITS_OWN = tuple(dict.fromkeys(f for f in FIELDS if OWN_WORDS.match(f) and f != "Advice.reference"))
IN_A_SENTENCE = "started on gpu-node17.cluster.local by bob.smith@corp.example.org (10.4.0.17) in /home/carol/run"
NAMES = ("gpu-node17", "alice", "10.4.0.17", "2001:db8::7", "bob.smith", "corp.example", "node0231", "llama-sft-42")


@pytest.mark.parametrize("field", OF_A_LOG)
def test_a_name_is_found_in_whatever_field_it_stands(field: str) -> None:
    report = _filled(FORM_OF_A_REPORT, (LINE if f == field else "x" for f in FIELDS))
    shown = repr(with_stand_ins(report)[0])
    assert [name for name in NAMES if name in shown] == []


@pytest.mark.parametrize("field", OF_ITS_OWN)
def test_a_name_that_only_a_sentence_of_the_report_tells_is_found(field: str) -> None:
    report = _filled(FORM_OF_A_REPORT, (IN_A_SENTENCE if f == field else "x" for f in FIELDS))
    shown = repr(with_stand_ins(report)[0])
    assert [name for name in ("gpu-node17", "bob.smith", "10.4.0.17", "carol") if name in shown] == []


@pytest.mark.parametrize("field", ["RankRow.host", "OddRank.host", "IncidentSummary.hosts", "NodeCount.name", "History.jobs"])
def test_the_value_of_a_field_that_holds_names_is_one(field: str) -> None:
    report = _filled(FORM_OF_A_REPORT, ("trn7" if f == field else "x" for f in FIELDS))
    assert "trn7" not in repr(with_stand_ins(report)[0])


def test_words_of_the_reports_own_sentences_are_no_names() -> None:
    said = "Restart it on another host; the user came by ssh connection as for user id 1000. See sbatch --job-name=NAME, pod/POD"
    report = made.report("words of a log", case="x")
    told = replace(report.causes[0], remediations=(Advice(1, "user", said, said, (said,), "https://docs.example.io/x"),))
    hid, key = with_stand_ins(replace(report, causes=(told,)))
    assert key == {}
    assert hid.causes[0].remediations == told.remediations


@pytest.mark.parametrize("name", ["dmesg79.txt", "train-7.log", "slurm-4711.out", "run.log.1", "job-logs-3"])
def test_the_place_of_a_line_can_be_opened(name: str) -> None:
    """A log's name is none, unless the logs tell it as one."""
    report = made.report("words of a log", case=name)
    sources = (replace(report.sources[0], name=f"logs/{name}"),)
    subject = replace(report.subject, name=name) if report.subject else None
    hid, key = with_stand_ins(replace(report, sources=sources, subject=subject))
    assert key == {}
    assert (hid.case, hid.sources) == (name, sources)


def test_a_person_or_a_host_in_the_name_of_a_log_is_hidden() -> None:
    report = made.report("Mar  1 12:00:00 gpu-node17 kernel: user=alice", case="x")
    hid, _ = with_stand_ins(replace(report, sources=(replace(report.sources[0], name="alice/gpu-node17.log"),)))
    assert hid.sources[0].name == "user-1/host-1.log"


def test_the_folder_of_a_case_is_a_job_and_changes_no_longer_word_of_the_kernel() -> None:
    line = '"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message; cd runs/hung_task first'
    report = made.report(line, case="hung_task")
    hid, _ = with_stand_ins(report)
    assert (hid.case, hid.causes[0].evidence[0].text) == ("job-1", line.replace("runs/hung_task", "runs/job-1"))


def test_the_folder_of_a_captured_run_stays() -> None:
    folder = "20261129-212356-torchrun-15932"
    assert with_stand_ins(made.report(f"folder: runs/{folder}/", case=folder))[1] == {}
    assert with_stand_ins(made.report("words of a log", case="llama-sft-42"), folder=False)[1] == {}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("2026-11-27 10:00:01 node gpu-node-17 (10.42.7.19)", "gpu-node-17"),
        ("[10:00:02] host ml07 user bob cwd /home/bob", "ml07"),
        ("2026-11-29 18:02:11 ml-cluster7-n042 svc-train[4411]: INFO starts", "ml-cluster7-n042"),
        ("2026-11-29 18:02:11.120 +0100 n042 kernel: it starts", "n042"),
        ("2026-11-29 18:02:11 loss: 0.5", ""),
        ("2026-11-29 18:02:11,120 ml07 train.py INFO starts", "ml07"),
        ("[2026-11-29 18:02:11][trn-n042][INFO] starts", "trn-n042"),
        ("[18:02:11] [trn-n042] [fit] [WARNING] starts", "trn-n042"),
        ("2026-11-29 18:02:11,120 rank3 INFO starts", ""),
        ("2026-11-29 18:02:11,120 resnet INFO starts", ""),
        ("[2026-11-29 18:02:11,120][urllib3][WARNING] starts", ""),
        ("[2026-11-29 18:02:11,120][src.models.resnet34][INFO] starts", ""),
        ("[trn-n042:rank3]: starts", "trn-n042"),
        ("it is built from torch2.1.0.dev20 at v2.1.0", ""),
        ("[[{{node conv1_1_2/Conv2D}}]] of node rank0, node gpu3, host cuda12", ""),
    ],
)
def test_a_host_behind_the_word_for_one_or_a_stamp(line: str, name: str) -> None:
    assert [k for k, v in Names.among((), [line]).stand_ins.items() if v.startswith("host")] == ([name] if name else [])


def test_the_name_of_a_project_is_hidden() -> None:
    line = "starts: project=falcon-x2, 'project_name': 'osprey-7' at /data/falcon-x2/train.py"
    assert (
        Names.among((), [line]).hide(line) == "starts: project=project-1, 'project_name': 'project-2' at /data/project-1/train.py"
    )


def test_the_path_of_a_repository_tells_names_at_any_host() -> None:
    found = Names.among((), ["git clone https://git.acme.example/falcon/secret-v2.git"])
    assert sorted(found.stand_ins) == ["falcon", "git.acme.example", "secret-v2"]


@pytest.mark.parametrize("line", ["{'owner': 'mmueller', 'job': 3}", '"owner": "mmueller"', "created_by': 'mmueller'"])
def test_the_owner_in_a_record_is_hidden(line: str) -> None:
    assert "mmueller" not in Names.among((), [line]).hide(line)


def test_a_machine_by_its_whole_name_in_a_sentence_is_hidden_by_its_short_one_too() -> None:
    names = Names.among((), ["it runs on login-1.acme-seven.net since noon"])
    assert names.hide("login-1 waits for login-1.acme-seven.net") == "host-1 waits for host-1"


def test_a_user_called_as_a_part_of_a_program_leaves_the_program_as_it_is() -> None:
    line = "user=trainer at db01"
    names = Names.among((), [line])
    assert names.hide(line) == "user=user-1 at db01"
    assert names.hide("trainer.fit() in trainer.py, trainer(x)") == "trainer.fit() in trainer.py, trainer(x)"
    assert names.hide("asked trainer. Then") == "asked user-1. Then"


def test_first_and_last_name_of_a_user_and_the_name_of_a_job_are_hidden_wherever_they_stand() -> None:
    lines = ["user=katarina.novak job=katarina-kiln-v3", "SLURM_JOB_NAME=falcon-pretrain"]
    names = Names.among((), lines)
    hidden = names.hide(" ".join([*lines, "thanks, Katarina says katarina; see novak"]))
    assert not re.search("(?i)katarina|novak|kiln|falcon", hidden)
    assert names.hide("job=training and job=4711") == "job=training and job=4711"


@pytest.mark.parametrize(
    "line", ["wandb: Syncing run https://wandb.ai/acme/llm/runs/8x7y6z5w", "run name: s3://bucket/x", "user=https"]
)
def test_the_scheme_of_an_address_is_no_name(line: str) -> None:
    assert Names.among((), [line]).hide("see https://docs.python.org/3 and s3://x") == "see https://docs.python.org/3 and s3://x"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("INFO user started job resnet-prod-77 on 4 GPUs", "resnet-prod-77"),
        ("launching experiment falcon_pretrain with seed 1", "falcon_pretrain"),
        ("RuntimeError: job kiln-v3 has no checkpoint", "kiln-v3"),
        ("the run went well; run step-by-step; the job is re-queued, job 4711", ""),
    ],
)
def test_the_name_of_a_job_in_prose_is_hidden_and_no_other_word(line: str, name: str) -> None:
    hidden = Names.among((), [line]).hide(line)
    assert hidden == (line.replace(name, "job-1") if name else line)


@pytest.mark.parametrize(
    ("url", "hidden"),
    [
        ("https://wandb.kiln.example/acme-lab/falcon-llm/runs/ab12cd34", "/org-1/project-1/runs/run-1"),
        ("https://wandb.ai/acme-lab/falcon-llm/sweeps/9a8b7c6d", "wandb.ai/org-1/project-1/sweeps/run-1"),
        ("https://app.wandb.ai/acme-lab/falcon-llm", "app.wandb.ai/org-1/project-1"),
        ("https://www.comet.com/acme-lab/falcon-llm/9a8b7c6d5e4f", "/org-1/project-1/run-1"),
        ("https://app.neptune.ai/acme-lab/falcon-llm/e/FAL-12", "/org-1/project-1/e/run-1"),
        ("https://lightning.ai/acme-lab/falcon-llm", "lightning.ai/org-1/project-1"),
        ("https://dagshub.com/acme-lab/falcon-llm.mlflow", "/org-1/project-1.mlflow"),
    ],
)
def test_who_tracks_what_is_hidden_in_the_address_of_a_tracker(url: str, hidden: str) -> None:
    line = f"View run at {url} of acme-lab, falcon-llm"
    assert Names.among((), [line]).hide(line).endswith(f"{hidden} of org-1, project-1")


@pytest.mark.parametrize("url", ["https://docs.wandb.ai/guides/track", "https://github.com/pytorch/pytorch/actions/runs/12345"])
def test_the_address_of_a_page_for_everybody_stays(url: str) -> None:
    assert Names.among((), [f"see {url}"]).hide(url) == url


@pytest.mark.parametrize(
    "said",
    [
        "ConnectionError: login refused for this server",
        "Login: failed, status 401",
        "login timed out after 30 s",
        "ssh connection refused",
        "no key for batch 3",
        "stopped by user request",
    ],
)
def test_how_a_login_went_is_no_name(said: str) -> None:
    assert Names.among((), [said]).stand_ins == {}


@pytest.mark.parametrize(
    "said", ["login: {}", "login=gina", "login as {}", "machine host login {} password x", "logged in as {}"]
)
def test_who_logged_in_is_one(said: str) -> None:
    assert Names.among((), [said.format("gina")]).stand_ins == {"gina": "user-1"}
