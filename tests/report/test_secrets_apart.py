"""Secrets whose name stands in another field, line or column, is left out of a long line, or that only their place tells."""

import random
import string
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.core.text import CUT
from forensics.database import Database
from forensics.report import render
from forensics.report.redaction.lines import masked_text
from forensics.report.redaction.secrets import mask_text

LETTERS = string.ascii_letters + string.digits


def made(seed: int, count: int = 12) -> str:
    """A password of letters and digits; made, because scanners of repositories report examples."""
    return "".join(random.Random(seed).choices(LETTERS, k=count))


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "DB_PASSWORD", "value": "%s"}]',
        '{"key": "password", "value": "%s", "type": "plain"}',
        "EnvVar{Name:DB_PASSWORD,Value:%s,ValueFrom:nil,}",
        '{"value": "%s", "name": "DB_PASSWORD"}',
        "    - name: DB_PASSWORD\n      value: %s",
        '      "name": "DB_PASSWORD",\n      "value": "%s"',
        "id,user,password,role\n7,ana,%s,admin",
        " id | user | password\n----+------+---------\n  7 | ana  | %s",
        "   user  password  age\n0   ana  %s   12",
        "password=$3%s",
        "password=a&b%s",
        "https://h/login?password=%s&user=ana",
        "password=[%s]",
        "passwords=['%s', 'second one']",
        "HTTPBasicAuth('ana', '%s')",
        "requests.get(url, auth=('ana', '%s'))",
        "smtp.login('ana@mail.example', '%s')",
        "smtp.login(user, 'ab cd %s')",
        "ssh.connect('h', 22, 'ana', '%s')",
        "ValueError: login failed for ('ana', '%s')",
        "<RequestsCookieJar[<Cookie session=%s for h/>]>",
        '  ~ api_key = "" -> "%s8"',
        "+ unzip -P %s data.zip",
        "+ echo %s | docker login --password-stdin",
        "Password for 'https://ana@git.example': %s",
        '<input type="password" name="pw" value="%s">',
        "[SQL: UPDATE users SET password=%%s WHERE id=%%s]\n[parameters: ('%s', 3)]",
        "jdbc:oracle:thin:ana/%s@//db:1521/x",
    ],
)
def test_a_password_is_masked_whatever_stands_between_it_and_its_name(text: str) -> None:
    for seed in range(20):
        secret = made(seed)
        shown = masked_text(text.replace("%%s", "%%").replace("%s", secret))
        assert secret not in shown
        assert "[REDACTED:" in shown


def test_each_word_of_a_passphrase_is_masked() -> None:
    shown = mask_text("ValueError: passphrase=correct horse battery staple user=ana")
    assert not any(word in shown for word in ("correct", "horse", "battery", "staple"))
    assert "user=ana" in shown


@pytest.mark.parametrize(
    "text",
    [
        "password=$DB_PASSWORD",
        "password=${DB_PASSWORD}",
        "password=$(cat /run/secrets/db)",
        "password=[hidden]",
        '{"name": "EPOCHS", "value": "90"}',
        "    - name: OMP_NUM_THREADS\n      value: 16",
        "epoch,loss,tokens\n1,2.31,51200",
        "epoch  loss  token_accuracy\n1      2.31  0.512",
        "base_bytes_lut, has_leading_space_lut, is_boundary_token_lut,\nbase_bytes_lut, has_leading_space_lut, is_boundary_token_lut,",
        "dist.connect(host, port, group, 'nccl')".replace("'nccl'", "backend"),
        "[rank0]: /opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py",
        "  ~ replicas = 2 -> 3",
    ],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert masked_text(text) == text


@pytest.mark.parametrize("text", ["password=%s", "Authorization: Bearer %s", "mysql://root:%s@h/x"])
def test_a_long_line_shows_no_secret_whose_name_is_left_out(text: str, tmp_path: Path, knowledge: Database) -> None:
    secret = made(5, 24)
    for behind in range(4030, 4100, 5):  # as many bytes of the end of a line are kept
        row = "q " * 4000 + text % secret + " " + ("x y " * 1100)[:behind] + "RuntimeError: CUDA out of memory."
        log = tmp_path / "train.log"
        log.write_text(f"step 1 loss 2.1\n{row}\n")
        report = pipeline.analyze_paths([log], "case", knowledge, workers=1, within=tmp_path)
        shown = render(report, "json")
        assert not any(secret[start : start + 6] in shown for start in range(len(secret) - 5)), behind


def test_only_half_a_word_is_taken_from_a_line_without_its_beginning() -> None:
    assert mask_text(f"{CUT}oken: abc loss 2.3 at step 7") == f"{CUT} loss 2.3 at step 7"
    assert mask_text(f"{CUT}9/100 [00:12<00:20] loss 2.3") == f"{CUT} [00:12<00:20] loss 2.3"


def test_two_private_keys_in_turns_are_masked() -> None:
    rows = [[f"/{made(10 * rank + i, 63)}" for i in range(8)] for rank in range(2)]
    begin = "-----BEGIN RSA PRIVATE KEY-----"
    written = [f"[rank{rank}]: {row}" for pair in zip(*([begin, *r] for r in rows), strict=True) for rank, row in enumerate(pair)]
    shown = masked_text("\n".join([*written, "[rank0]: OSError: [Errno 28] No space left on device"]))
    assert not any(row in shown for key in rows for row in key)
    assert "No space left on device" in shown
