"""Secrets made for the tests: of each kind a line as a log would show it, and the part that must not be seen.

Made at random from a fixed seed, so that none is anybody's and none stands in this file.
"""

import base64
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
B64 = ALNUM + "+/"
URLSAFE = ALNUM + "-_"


@dataclass(frozen=True, slots=True)
class Seed:
    """`line` holds `secret`."""

    kind: str
    line: str
    secret: str


def seeds(seed: int = 7, digits: bool = True) -> list[Seed]:
    """One of each kind; `digits`: each with a capital and a digit in it, as nearly all random strings have."""
    return [Seed(kind, line.replace("@@", secret), secret) for kind, line, secret in _kinds(random.Random(seed), digits)]


def _kinds(rng: random.Random, digits: bool) -> Iterator[tuple[str, str, str]]:
    def some(letters: str, count: int) -> str:
        made = "".join(rng.choice(letters) for _ in range(count))
        if digits and count > 4 and letters in (ALNUM, URLSAFE, B64):
            made = "aB7" + made[3:-1] + "k"
        return made

    yield from _hosts(some)
    yield from _services(some)
    yield from _clouds(some)
    yield from _named(some)
    yield from _places(some)


def _hosts(some):  # type: ignore[no-untyped-def]
    for prefix in ("ghp_", "gho_", "ghs_"):
        yield f"GitHub {prefix}", "fatal: could not read from @@ (403)", prefix + some(ALNUM, 36)
    yield "GitHub fine-grained", "GH_TOKEN=@@", "github_pat_" + some(ALNUM, 22) + "_" + some(ALNUM, 59)
    yield "GitLab", "remote: HTTP Basic: Access denied for @@", "glpat-" + some(URLSAFE, 20)
    yield "Bitbucket", "using @@ for bitbucket", "ATBB" + some(ALNUM, 32)
    yield "git URL with token", "Cloning https://@@@git.internal.example/x.git", some(ALNUM, 40)
    yield "git URL with password", "Cloning https://bot:@@@git.internal.example/x.git", some(ALNUM, 18)
    yield "Hugging Face", "huggingface_hub: 401 Client Error with token @@ here", "hf_" + some(string.ascii_letters, 34)
    yield "npm", "npm ERR! @@", "npm_" + some(ALNUM, 36)
    yield "npmrc", "//registry.internal/:_authToken=@@", some(HEX, 8) + "-" + some(HEX, 20)
    yield "PyPI", "upload with @@ refused", "pypi-AgEIcHlwaS5vcmc" + some(URLSAFE, 70)
    yield "Docker Hub", "docker login -u me -p @@", "dckr_pat_" + some(URLSAFE, 27)


def _services(some):  # type: ignore[no-untyped-def]
    yield "W&B", "WANDB_API_KEY=@@", some(HEX, 40)
    yield "W&B login", "$ wandb login --relogin @@", some(HEX, 40)
    yield "W&B netrc", "machine api.wandb.ai login user password @@", some(HEX, 40)
    yield "Comet", "COMET_API_KEY: @@", some(ALNUM, 25)
    yield (
        "Neptune",
        "export NEPTUNE_API_TOKEN='@@'",
        base64.b64encode(b'{"api_address":"x","api_key":"' + some(HEX, 36).encode() + b'"}').decode(),
    )
    yield "MLflow", "MLFLOW_TRACKING_PASSWORD=@@", some(ALNUM, 12)
    yield "ClearML", "CLEARML_API_SECRET_KEY=@@", some(ALNUM, 48)
    yield "Kaggle", '{"username":"someone","key":"@@"}', some(HEX, 32)
    yield "Databricks", "DatabricksError with @@", "dapi" + some(HEX, 32)
    yield "OpenAI", "openai.AuthenticationError: Incorrect API key provided: @@.", "sk-" + some(ALNUM, 48)
    yield "OpenAI project", "key is @@", "sk-proj-" + some(URLSAFE, 60) + "T3BlbkFJ" + some(URLSAFE, 60)
    yield "Anthropic", "x-api-key: @@", "sk-ant-api03-" + some(URLSAFE, 90)
    yield "NVIDIA NGC", "nvcr login with @@", "nvapi-" + some(URLSAFE, 64)
    yield "Replicate", "replicate said no to @@", "r8_" + some(ALNUM, 37)
    yield "Groq", "groq @@", "gsk_" + some(ALNUM, 52)
    yield "Slack bot", "slack notify failed: @@", "xoxb-" + some(string.digits, 12) + "-" + some(ALNUM, 24)
    yield (
        "Slack webhook",
        "POST https://hooks.slack.com/services/@@ 404",
        "T" + some(UPPER, 8) + "/B" + some(UPPER, 8) + "/" + some(ALNUM, 24),
    )
    yield "Discord webhook", "POST https://discord.com/api/webhooks/@@", some(string.digits, 18) + "/" + some(URLSAFE, 68)
    yield "Telegram", "GET https://api.telegram.org/bot@@/sendMessage", some("123456789", 10) + ":AA" + some(URLSAFE, 33)
    yield "SendGrid", "mail: @@", "SG." + some(URLSAFE, 22) + "." + some(URLSAFE, 43)
    yield "Stripe", "billing @@", "sk_live_" + some(ALNUM, 24)
    yield "Grafana", "pushing metrics with @@", "glsa_" + some(ALNUM, 32) + "_" + some(HEX, 8)
    yield "Sentry DSN", "Sentry at https://@@@o1.ingest.sentry.io/42", some(HEX, 32)
    yield "New Relic", "agent key @@", "NRAK-" + some(UPPER, 27)
    yield "Datadog", "DD_API_KEY=@@", some(HEX, 32)
    yield "Prefect", "prefect cloud login -k @@", "pnu_" + some(ALNUM, 36)
    yield "Vault", "VAULT: @@ denied", "hvs." + some(URLSAFE, 90)


def _clouds(some):  # type: ignore[no-untyped-def]
    yield "AWS key id", "botocore: InvalidAccessKeyId @@", "AKIA" + some(UPPER, 16)
    yield "AWS secret", "aws_secret_access_key = @@", some(B64, 40)
    yield "AWS secret in a dictionary", "{'AWS_SECRET_ACCESS_KEY': '@@', 'PATH': '/bin'}", some(B64, 40)
    for form in ("{},@@", "s3a://{}:@@@bucket/x", "aws {} secret @@", "key={}, value @@", "export ID={} X=@@", "@@ of {}"):
        yield "AWS secret beside its id, " + form, form.format("AKIA" + some(UPPER, 16)), some(B64, 40)
        yield "AWS secret that begins with a slash, " + form, form.format("ASIA" + some(UPPER, 16)), "/" + some(B64, 39)
    yield "AWS secret that begins with a slash behind a name", "fs.s3a.secret.key=@@", "/" + some(B64, 39)
    yield "Alibaba secret beside its id", "LTAI" + some(ALNUM, 20) + ",@@", some(ALNUM, 30)
    yield "AWS session token", "AWS_SESSION_TOKEN=@@", "IQoJb3JpZ2luX2Vj" + some(B64, 300)
    yield "presigned URL", "GET https://b.s3.amazonaws.com/k?X-Amz-Signature=@@&x=1", some(HEX, 64)
    yield "Google API", "google.api_core: API key not valid @@", "AIza" + some(URLSAFE, 35)
    yield "Google OAuth", "token ya29 is @@", "ya29." + some(URLSAFE, 120)
    yield "Azure storage", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@;EndpointSuffix=y", some(B64, 86) + "=="
    yield "Azure SAS", "https://x.blob.core.windows.net/c?sv=2022&sig=@@", some(ALNUM, 43) + "%3D"
    yield "Azure client", "AADSTS7000215: @@", some(ALNUM, 3) + "8Q~" + some(ALNUM, 34)
    yield "DigitalOcean", "doctl: @@", "dop_v1_" + some(HEX, 64)
    yield "Alibaba", "oss: @@ is not known", "LTAI" + some(ALNUM, 20)


def _named(some):  # type: ignore[no-untyped-def]
    yield "database URL", "sqlalchemy.exc: postgresql://mlflow:@@@db:5432/mlflow", some(ALNUM, 10)
    yield "redis URL", "redis://:@@@cache:6379/0", some(ALNUM, 14)
    yield "password in an environment", "env: PGPASSWORD=@@ PGHOST=db", some(ALNUM, 9)
    yield "password in YAML", "  password: @@", some(ALNUM, 11)
    yield "password in JSON", '"smtp_password": "@@",', "pass word " + some(ALNUM, 8)
    yield "secret in an environment", "CLIENT_SECRET=@@", some(ALNUM, 32)
    yield "token in an environment", "MY_SERVICE_TOKEN=@@", some(ALNUM, 24)
    yield "option with token", "python train.py --hub-token @@ --lr 1e-4", some(ALNUM, 30)
    yield "option with password", "python sync.py --password=@@ --fast", some(ALNUM, 8)
    yield "passphrase of two words", "PASSPHRASE '@@'", "open " + some(ALNUM, 5)
    yield "sshpass", "+ sshpass -p @@ ssh node1", some(ALNUM, 10)
    yield "curl user", "+ curl -s -u admin:@@ https://x/y", some(ALNUM, 10)
    yield "keyword argument", "login(token='@@')", some(ALNUM, 34)


def _places(some):  # type: ignore[no-untyped-def]
    yield "bearer header", "Authorization: Bearer @@", some(URLSAFE, 40)
    yield "basic header", "'Authorization': 'Basic @@'", base64.b64encode(some(ALNUM, 20).encode()).decode()
    yield "bearer in curl", "curl -H 'Authorization: Bearer @@' https://x", some(ALNUM, 36)
    yield "API header", "X-Api-Key: @@", some(ALNUM, 32)
    yield "cookie", "Cookie: session=@@", some(URLSAFE, 40)
    yield (
        "JWT",
        "invalid token @@",
        ".".join(("eyJhbGciOi" + some(URLSAFE, 20), "eyJzdWIi" + some(URLSAFE, 40), some(URLSAFE, 43))),
    )
    yield "Jupyter URL", "    http://127.0.0.1:8888/lab?token=@@", some(HEX, 48)
    yield "URL parameter", "GET /v1/x?user=me&access_token=@@&n=1", some(ALNUM, 28)
    yield "private key on one line", "key='-----BEGIN PRIVATE KEY-----\\n@@'", some(B64, 200)
    yield "kubeconfig key", "    client-key-data: @@", some(B64, 120)
