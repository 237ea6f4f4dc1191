"""Every row of the forms of secrets: what it masks and what it leaves; the forms that need no issuer; no text takes long."""

import base64
import random
import re
import time
from urllib.parse import quote

import pytest

from forensics.report.redaction import mask_lines, mask_text
from forensics.report.redaction.names import Names
from forensics.report.redaction.rules import may_be_token
from forensics.report.redaction.secrets import Form, form_of, parts_of, rows
from tests.report.secret_form_faults import example_of, form_faults, forms_text

ROWS = rows()
HEAVY = (
    "password",
    "curl -u ",
    "docker login ",
    "密码",
    "secret_",
    "key: ",
    "a.",
    "aA1/",
    "%41",
    "0a",
    "://a:b@",
    "-----BEGIN PRIVATE KEY-----",
)
CHARS = 8000
MOST_S = 1.0  # of processor, with a machine that does something else; it takes a fifth of it


def made(letters: str, count: int, seed: int = 1) -> str:
    rng = random.Random(seed)
    return "aB7" + "".join(rng.choice(letters) for _ in range(count - 4)) + "k"


ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
TOKEN = "ghp_" + made(ALNUM, 36)
WORD = made(ALNUM, 12)
# In the words of the programs that print them; `@@` is the secret.
PLACES = {
    **{f"{word} {WORD}": WORD for word in (
        "Passwort:", "contraseña:", "mot de passe :", "senha:", "密码：", "密碼:", "пароль:", "パスワード:", "비밀번호:", "hasło:")},
    "db.internal:5432:mlflow:alice:" + WORD: WORD,
    f"got {made(ALNUM, 40)} from the vault": made(ALNUM, 40),
    f"Basic {base64.b64encode(f'alice:{WORD}'.encode()).decode()}": base64.b64encode(f"alice:{WORD}".encode()).decode(),
    f"env {base64.b64encode(f'GH_TOKEN={TOKEN}'.encode()).decode()}": base64.b64encode(f"GH_TOKEN={TOKEN}".encode()).decode(),
    f"dump {f'GH_TOKEN={TOKEN}'.encode().hex()}": f"GH_TOKEN={TOKEN}".encode().hex(),
    f"next={quote(f'https://x.example/?token={TOKEN}', safe='')}": TOKEN,
    "PIN: 493817": "493817",
    f"sudo: alice : PWD=/home/alice ; COMMAND=/usr/bin/mysql -u root -p{WORD} db": WORD,
    f"+ echo {WORD} | sudo -S true": WORD,
    f"leaked {TOKEN[:9]}\u200b{TOKEN[9:]}": TOKEN[9:],
    f"locals: {{'pw': '{WORD}', 'n': 3}}": WORD,
    f"[type=int_parsing, input_value='{made(ALNUM, 24)}', input_type=str]": made(ALNUM, 24),
    f"curl -k https://host/token \\\n  -H 'a: b' \\\n  --user alice:{WORD}": WORD,
    f"export BUNDLE_GEMS__CONTRIBSYS__COM={'cafe12ab:dead34ef'}": "cafe12ab:dead34ef",
    "HEROKU_KEY = 7F3A9C1E-4B2D-4E8F-9A61-C05D2B7E9F14": "7F3A9C1E-4B2D-4E8F-9A61-C05D2B7E9F14",
    "SONAR_LOGIN = " + "9F3A" * 3 + "7C1E4B2D" * 4: "9F3A" * 3 + "7C1E4B2D" * 4,
    "db_pass = m{{h}o)p${e]nob(ody": "m{{h}o)p${e]nob(ody",
    f'if ("{WORD}" == my_password) {{': WORD,
    "sl_key= " + "0a1b2c3d" * 8: "0a1b2c3d" * 8,
    "cloudant_key = qwkdmzpxoeirutbnvcyalsjh": "qwkdmzpxoeirutbnvcyalsjh",
    "db.password\n  Input should be valid [type=x, input_value='hunter', input_type=str]": "hunter",
    "    connect(user, password)\n            │     └ 'hunter'": "hunter",
}  # fmt: skip
# A line, and what of it is a person or a place.
NAMED = {
    "ether 52:54:00:ab:cd:ef": "52:54:00", "card 4111 1111 1111 1111": "4111", "call +49 170 1234567": "1234567",
    "to=alice.w%40example.net": "alice.w", "open /scratch/jdoe/x": "jdoe", "/lustre/fs1/users/ptester/x": "ptester",
    "/u/kmeier/x.py": "kmeier", "User=hschmidt(1001)": "hschmidt", "login: pwagner": "pwagner", "chown rfischer /data": "rfischer",
    "NodeList=gpu[01-03]": "gpu[01", "srun: error: hgx0417: task 3: Killed": "hgx0417", "git@github.com:acme-ai/hidden.git": "acme-ai",
    "https://wandb.ai/acme-team/llm/runs/ab12cd34": "acme-team", "GPU-6b1f2c3d-1111-2222-3333-444455556666": "6b1f2c3d",
    "Serial Number : 1653222000123": "1653222000123", "CN = Erika Mustermann": "Mustermann",
    "tmueller:x:1004:1004:Thomas M:/home/tmueller:/bin/sh": "tmueller", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 x": "AAAAB3",
}  # fmt: skip


@pytest.mark.parametrize(("kind", "shape"), ROWS, ids=[f"{k}-{i}" for i, (k, _) in enumerate(ROWS)])
def test_each_form_masks_its_example_and_no_shorter_text(kind: str, shape: str) -> None:
    rng = random.Random(5)
    example = example_of(shape, iter(lambda: rng.randrange(1 << 30), -1))
    assert may_be_token(example), "the test of tokens refuses this form"
    assert example[len(example) // 2 :] not in mask_text(f"it failed with {example} here")
    form = form_of(kind, shape)
    least = sum(p.least if p.alphabet else min(map(len, p.choices)) for p in parts_of(shape))
    assert form.pattern.search(f"x {example[: least - 1]}") is None
    assert not form.anchors or all(anchor == anchor.lower() for anchor in form.anchors)


def test_the_table_of_forms_has_no_fault() -> None:
    assert form_faults(forms_text()) == []


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("a-b,abc_<nono 3>", "unknown alphabet 'nono'"),
        ("A b,abc_<alnum 30>", "no row of a kind and a shape"),
        ("x,sk<", "no shape of a secret"),
        ("x,zz<digit 5>", "is not masked"),
        ("x,openai_<hex 4>(a|b)\nx,openai_<hex 4>(a|b)", "the shape of line 2 again"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(row: str, what: str) -> None:
    faults = form_faults(f"kind,shape\n{row}\n")
    assert any(what in text for _, text in faults), faults
    assert {line for line, _ in faults} <= {2, 3}


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (r"ghp_[A-Za-z0-9]{29,30}", "that is one character too short"),
        (r"ghp_[A-Za-z0-9!]{30}", "with ! in it"),
        ("ghp_", "its own"),
    ],
)
def test_a_pattern_that_is_too_wide_or_too_narrow_is_told(pattern: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Form("github-token", ("ghp_",), re.compile(pattern), starts=True)
    monkeypatch.setattr("tests.report.secret_form_faults.form_of", lambda _kind, _shape: wrong)
    ((line, told),) = form_faults("kind,shape\ngithub-token,ghp_<alnum 30>\n")
    assert line == 2 and what in told


def test_a_text_that_is_no_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="no shape"):
        parts_of("abc_<alnum>")


@pytest.mark.parametrize("text", PLACES)
def test_a_secret_is_known_by_its_place(text: str) -> None:
    assert PLACES[text] not in "\n".join(mask_lines(text.split("\n")))


@pytest.mark.parametrize("line", NAMED)
def test_a_person_or_a_place_gets_a_stand_in(line: str) -> None:
    assert NAMED[line] not in Names.among([], [line]).hide(line)


def test_a_host_has_one_stand_in_with_and_without_its_domain() -> None:
    lines = ["Nov 21 08:23:04 node17.acme.internal kernel: x", "node17 is down"]
    assert [Names.among([], lines).hide(line) for line in lines] == ["Nov 21 08:23:04 host-1 kernel: x", "host-1 is down"]


@pytest.mark.parametrize("unit", HEAVY)
def test_no_text_takes_long(unit: str) -> None:
    start = time.process_time()
    mask_text((unit * CHARS)[:CHARS])
    assert time.process_time() - start < MOST_S
