"""Secrets never leave: each kind, in each format; what is no secret stays."""

import io
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forensics.core.shapes import asks_digits
from forensics.database import Database
from forensics.report import formats, render
from forensics.report.redaction import without_secrets
from forensics.report.redaction.lines import FIELD_NAME, HINT, KEY_BEHIND_LABEL, MaskedStream, mask_lines
from forensics.report.redaction.rules import NAME_AT_END, SECRET_NAME
from forensics.report.redaction.secrets import RULES, mask_text
from tests.report import made
from tests.report.samples import CASES, sample, sixth
from tests.report.seeds import Seed, seeds

LOGS = Path(__file__).parents[2] / "sample_logs"
SEEDS = seeds()

# Lines that speak of tokens, keys and passwords and hold none; made in the wording of the programs that print them.
HARMLESS = [
    "pad_token='<pad>', eos_token='</s>', bos_token_id=1, max_new_tokens=512",
    "special_tokens_map: {'unk_token': '[UNK]', 'cls_token': '[CLS]', 'sep_token': AddedToken(...)}",
    "tokenizer_config: {'pad_token_id': 50256, 'num_tokens': 1_000_000}",
    "tokens/s: 12345.67 tokens: 1048576 token 17 of 2048",
    "PAD_TOKEN=[PAD] EOS_TOKEN=<|endoftext|> MASK_TOKEN=<mask>",
    "KeyError: 'label'",
    "key=query.weight value=None keys: ['model.layers.0.self_attn.q_proj.weight']",
    "use_auth_token=True, token=None, api_key=None, password=None",
    'Missing key(s) in state_dict: "layer1.0.conv1.weight", "bn1.bias"',
    'Password authentication failed for user "x"',
    "huggingface_hub.errors: Invalid username or password.",
    "api_key: ${WANDB_API_KEY}  token: $HF_TOKEN secret: <your secret here>",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 3fe9a27b4c9d2e1f0a8b7c6d5e4f3a2b1c0d9e8f",
    "kernel bdd9e049-4648-49d2-9255-2cfeeb83350f restarted",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1917, GPU has fallen off the bus.",
    "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-6b1f2c3d-1111-2222-3333-444455556666)",
    "oom_memcg=/kubepods/pod1f2e3d4c-aaaa-bbbb-cccc-1234567890ab/6895a3e13439535852d3184ac2aadd26d7363cc035f171545ec7d4ce74073b0b",
    'File "/home/user/keys/token_dataset.py", line 12, in secret_sauce',
    "ssh-keygen: generating public/private rsa key pair",
    "The token dimension is 4096; the key dimension is 128",
    "git@github.com: Permission denied (publickey).",
    "https://example.org/docs?page=2&key=value#section",
    "masked 15 % of all tokens; secret santa: off",
    "auth: none, secrets: 3 mounted",
    "the secret lies in /home/runner/Projects/Llama3/keys/token2",
]


def test_the_seeds_have_forty_kinds_of_secrets() -> None:
    assert len({s.kind for s in SEEDS}) >= 40


def test_what_stands_behind_a_quoted_secret_stays() -> None:
    after = ' at a.py:10, so that b.py:4 does not stop with `raise ValueError("bad token")`'
    for shown in ('`login("u", password="Sommer2026!")`', '`login("u", password="Somm…`', "password = 'Sommer2026!',"):
        assert mask_text(shown + after).endswith(after)
        assert "Somm" not in mask_text(shown + after)
    assert mask_text('password="one… two" then "three"') == 'password="[REDACTED:password]" then "three"'


@pytest.mark.parametrize("seed", SEEDS, ids=lambda s: s.kind)
def test_each_kind_is_masked(seed: Seed) -> None:
    said = mask_text(seed.line)
    assert seed.secret not in said
    assert seed.secret[len(seed.secret) // 2 :] not in said
    assert "[REDACTED:" in said


@pytest.mark.seconds
@given(st.integers(0, 10_000))
def test_each_kind_is_masked_whatever_its_letters(seed: int) -> None:
    assert [s.kind for s in seeds(seed) if s.secret in mask_text(s.line)] == []


@pytest.mark.seconds
def test_recall_over_strings_of_any_letters() -> None:
    tried = [s for n in range(60) for s in seeds(n, digits=False)]
    missed = [s for s in tried if s.secret in mask_text(s.line)]
    assert len(missed) <= 0.002 * len(tried), {s.kind for s in missed}


@pytest.mark.parametrize("line", HARMLESS)
def test_what_is_no_secret_stays(line: str) -> None:
    assert mask_text(line) == line


@given(st.lists(st.sampled_from([*(s.line for s in SEEDS), *HARMLESS]), max_size=4).map("; ".join))
@example(f"$ wandb login --relogin {'69969e58' * 5}; commit {'3fe9a27b' * 5}")
@example(f"could not read from ghp_{'aB7zPde0Igx' * 3}; kernel bdd9e049-4648-49d2-9255-2cfeeb83350f restarted")
def test_masking_twice_is_masking_once(text: str) -> None:
    assert mask_text(mask_text(text)) == mask_text(text)


@given(st.text(max_size=400))
def test_any_text_can_be_masked(text: str) -> None:
    mask_text(text)


@pytest.mark.seconds
@pytest.mark.parametrize(("number", "form"), enumerate(formats()))
def test_no_format_shows_a_secret(number: int, form: str) -> None:
    """A third of the kinds in each format: each kind is in several."""
    for seed in SEEDS[number % 3 :: 3]:
        text = render(made.report(seed.line), form)
        assert seed.secret not in text, seed.kind


def test_a_secret_known_in_one_place_is_masked_in_every_other() -> None:
    secret = SEEDS[0].secret
    report = made.report(f"password={secret}")
    bare = made.report(f"child said: <{secret[4:]}>", case="x")
    joined = without_secrets(type(report)(**{**_fields(report), "missing": bare.missing, "warnings": bare.warnings}))
    assert secret not in repr(joined)


def test_beside_the_id_of_a_key_a_path_and_a_commit_stay() -> None:
    said = mask_text(f"AKIA{'QYCG6QRMB4TTQ3OZ'} s3://b/checkpoints/Llama3/8B/run17/step1000/layer12 commit {'3fe9a27b' * 5}")
    assert said == f"[REDACTED:aws-key-id] s3://b/checkpoints/Llama3/8B/run17/step1000/layer12 commit {'3fe9a27b' * 5}"


def test_a_secret_that_a_line_named_is_masked_in_later_lines_and_other_writes() -> None:
    password = "hunter2" + "pw"
    lines = [f"connect postgres://alice:{password}@db:5432/runs", f"{password} was refused"]
    assert not any(password in line for line in mask_lines(lines))
    below = io.StringIO()
    stream = MaskedStream(below)
    for line in lines:
        stream.write(line)
    assert password not in below.getvalue()


def test_a_password_behind_its_name_and_a_blank_is_masked() -> None:
    password = "hunter2" + "pw"
    assert mask_text(f"refused for user-1@host-3 (password {password})").endswith("(password [REDACTED:password])")
    for text in ("password authentication failed", "the password was changed", "password prompt timed out after 30s"):
        assert mask_text(text) == text


def _fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__struct_fields__}  # type: ignore[attr-defined]


def test_a_line_that_is_nothing_but_a_key_is_masked_whole() -> None:
    body = next(s.secret for s in seeds(3) if s.kind == "private key on one line")
    assert mask_text(f"  {body[:64]}") == "[REDACTED:key-material]"
    assert mask_text("A" * 64) == "A" * 64


def test_lines_of_a_private_key_are_masked() -> None:
    from msgspec.structs import replace

    from forensics.model import Line

    body = next(s.secret for s in seeds(3) if s.kind == "private key on one line")
    report = made.report("x")
    proof = replace(
        report.causes[0].evidence[0],
        text="-----BEGIN OPENSSH PRIVATE KEY-----",
        after=(Line(8, body[:70]), Line(9, body[70:140]), Line(10, body[140:150] + "==")),
    )
    report = replace(report, causes=(replace(report.causes[0], evidence=(proof,)),))
    text = render(report, "json")
    assert not any(part in text for part in (body[:70], body[70:140], body[140:150]))


def test_lines_of_a_private_key_are_masked_in_notices_and_in_how_it_ended() -> None:
    from msgspec.structs import replace

    body = next(s.secret for s in seeds(3) if s.kind == "private key on one line")
    head = "-----BEGIN OPENSSH PRIVATE KEY-----"
    report = made.report("x")
    assert report.subject
    noted = tuple(
        replace(report.notices[0], line=i, text=text) for i, text in enumerate((head, body[:70], body[70:80] + "=="), 1)
    )
    ended = (f"a.log:7: {head}", f"a.log:8: {body[80:140]}", "a.log:9: it was killed")
    report = replace(report, notices=noted, subject=replace(report.subject, outcome_lines=ended))
    text = render(report, "json")
    assert not any(part in text for part in (body[:70], body[70:80], body[80:140]))
    assert "a.log:9: it was killed" in text


@pytest.mark.seconds
@pytest.mark.parametrize("case", sixth(CASES, 1))
def test_nothing_is_masked_in_the_captured_cases(case: str, knowledge: Database) -> None:
    report = sample(case, knowledge)
    assert without_secrets(report) is report


def test_nothing_is_masked_in_captured_logs() -> None:
    lines = [x for f in sorted(LOGS.rglob("*")) if f.is_file() for x in f.read_text("utf-8", "replace").splitlines()]
    wrong = []
    for line in lines:
        seen: dict[str, str] = {}
        if mask_text(line, seen) != line:
            wrong.append((line, seen))
    assert len(lines) > 3000
    assert wrong == []


def test_every_rule_has_lower_case_anchors() -> None:
    assert [r.kind for r in RULES if any(a != a.lower() for a in r.anchors)] == []


@pytest.mark.parametrize("pattern", [HINT, NAME_AT_END, KEY_BEHIND_LABEL, FIELD_NAME, SECRET_NAME])
def test_whether_a_line_needs_its_neighbours_depends_on_no_digit(pattern: re.Pattern[str]) -> None:
    assert not asks_digits(pattern.pattern)


def test_a_name_with_a_digit_is_known_behind_one_with_another_digit() -> None:
    mask_text("pass9=Kq7xV2mZp9Lw")  # no name of a password; what is known of its shape must not hold for the next one
    for name in ("pass1", "pass9", "PWD0", "pw7"):
        assert mask_text(f"{name}=Kq7xV2mZp9Lw") == f"{name}=[REDACTED:password]"
    for name in ("otp", "totp", "2fa", "mfa_code", "2FA code"):
        assert mask_text(f"{name}=482913") == f"{name}=[REDACTED:one-time-code]"
    assert mask_text("a2fa=482913 alpha2fa: 482913") == "a2fa=482913 alpha2fa: 482913"


def test_the_ending_of_a_file_is_no_program_with_a_password() -> None:
    listed = 'find DIR -name "*.zip" -print0 | xargs -0 -n1 unzip -tq'
    assert mask_text(listed) == listed
    assert "hunter22" not in mask_text("unzip -Phunter22 data.zip")


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("Command '['python', 'x.py', '--password', 'hunter2']' returned non-zero exit status 1.", "hunter2"),
        ('"arguments": ["python", "x.py", "--db-token", "hunter2"]', "hunter2"),
        ("connect(password=b'b1DX8pPd5khx')", "b1DX8pPd5khx"),
        (r"password='it\'s-s3cret'", "s-s3cret"),
        ("DB_PASSWORD=abc,defg;hij&k", "defg;hij&k"),
        ("redis://:p@ss!word@host:6379/0", "ss!word"),
        ("<db:password>hunter2</db:password>", "hunter2"),
        ("get(url, cookies={'lang': 'en', 'session': 'lJvopDnX3EtaVNdL7cDSVLg4MYZ3sf'})", "lJvopDnX3EtaVNdL7cDSVLg4MYZ3sf"),
        ("set -x API_TOKEN SYh8vSYyKV3Q2LzYfJQI3qUX", "SYh8vSYyKV3Q2LzYfJQI3qUX"),
        ("setenv API_KEY Ig0g5ODcy3VmaDlqLEgNbmaI", "Ig0g5ODcy3VmaDlqLEgNbmaI"),
    ],
)
def test_ways_to_write_a_secret_that_end_late_or_stand_apart(line: str, secret: str) -> None:
    assert secret not in mask_text(line)
    assert mask_text(mask_text(line)) == mask_text(line)
