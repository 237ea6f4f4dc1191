"""Where names of people and places stand in a log: (kind, lower-case texts of which one must occur, the place of the name)."""

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import unquote

from forensics.core import lazy
from forensics.report.redaction.randomness import BASE64_GROUP_CHARS

EMAIL = lazy.regex(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b")
IPV4 = lazy.regex(r"(?<![\d.v])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\d]|\.\d)")
IPV6 = lazy.regex(r"(?<![\w:.])[0-9A-Fa-f:]{4,39}(?![\w:])")  # a candidate; `ipaddress` decides
IPV4_DOTS, IPV6_COLONS = 3, 7  # of an address that is written in full
# Kind, lower-case texts of which one must occur, and the form; its group `name`, or all of it, is replaced.
FORMS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "mac",
        (":", "-"),
        lazy.regex(
            r"(?<![\w:.-])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:.-])|(?<![\w-])(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}(?![\w-])"
        ),
    ),
    (
        "key",
        ("ssh-", "ecdsa-"),
        lazy.regex(
            r"\b(?:ssh-(?:rsa|dss|ed25519)|(?:sk-)?ecdsa-[\w@.-]+|sk-ssh-[\w@.-]+) (?P<name>AAAA[A-Za-z0-9+/]{20,2000}={0,3})"
        ),
    ),
    ("key", ("sha256:", "md5:"), lazy.regex(r"(?P<name>\bSHA256:[A-Za-z0-9+/]{43}=?|\bMD5:(?:[0-9a-f]{2}:){15}[0-9a-f]{2})")),
    (
        "phone",
        ("+",),
        lazy.regex(r"(?<![\w.+])\+[1-9]\d{0,2}(?:[ .()/-]{1,2}\d{1,8}){2,6}(?![\w])|(?<![\w.+])\+[1-9]\d{8,14}(?![\w.])"),
    ),
    ("phone", ("(", "-"), lazy.regex(r"(?<![\w.-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}-)[2-9]\d{2}-\d{4}(?![\w-])")),
    (
        "phone",
        ("phone", "tel", "mobile", "handy", "fax", "whatsapp"),
        lazy.regex(
            r"\b(?:tele)?(?:phone|tel|mobile|handy|fax|whatsapp)\b\.?(?: number"
            r"| no\.?)?[\"']?[ \t]*[:=]?[ \t]*[\"']?(?P<name>[+(]?\d[\d ()/.-]{5,18}\d)",
            re.I,
        ),
    ),
    ("gpu-id", ("gpu-", "mig-"), lazy.regex(r"\b(?:GPU|MIG)-(?:GPU-)?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")),
    (
        "serial",
        ("serial",),
        lazy.regex(
            r"\bserial(?:[ _-]?(?:number|no\.?|num))?[\"']?[ \t]*[:=#]?[ \t]*[\"']?(?P<name>(?=[A-Z0-9-]*\d)[A-Z0-9-]{7,24})\b",
            re.I,
        ),
    ),
    ("cert", ("cn=", "cn ="), lazy.regex(r"\bCN ?= ?\"?(?P<name>[^,/\"\n]{3,80})")),
    (
        "email",
        ("%40", "&#64;", "\\u0040", "[at]", "(at)", " at "),
        lazy.regex(
            r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}(?:%40|&#64;|\\u0040| ?[\[(]at[\])] ?)[A-Za-z0-9-]{1,63}(?:"
            r"(?:\.|%2E| ?[\[(]dot[\])] ?)[A-Za-z0-9-]{1,63}){0,4}"
            r"(?:\.|%2E| ?[\[(]dot[\])] ?)[A-Za-z]{2,24}\b",
            re.I,
        ),
    ),
    ("iban", ("iban",), lazy.regex(r"\bIBAN[ :=]{1,3}(?P<name>[A-Z]{2}\d{2}[A-Z0-9 ]{11,40})")),
)
CARD = lazy.regex(r"(?<![\w.:/-])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w.:/-])")
ENCODED_RUN = lazy.regex(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{10,400}={0,2}")
CERTIFICATE_AUTHORITIES = lazy.regex(
    r"(?:DigiCert|Let's Encrypt|GlobalSign|ISRG|Amazon|GTS|Google|Microsoft|Sectigo|R\d+$|E\d+$|kubernetes|etcd|localhost|\*)",
    re.I,
)
LEAST_CARD_DIGITS, MOST_CARD_DIGITS = 13, 19  # ISO/IEC 7812


def numbers_in(text: str) -> Iterator[tuple[str, str]]:
    """Kind and text of everything in `text` whose form tells what it is."""
    if "@" in text:
        yield from (("email", m[0]) for m in EMAIL.finditer(text) if not m[0].startswith("git@"))
    if text.count(".") >= IPV4_DOTS:
        yield from (("ip", m[0]) for m in IPV4.finditer(text))
    if text.count(":") >= 2:
        yield from (("ip", m[0]) for m in IPV6.finditer(text) if "::" in m[0] or m[0].count(":") == IPV6_COLONS if _is_ipv6(m[0]))
    low = text.lower()
    for kind, anchors, pattern in FORMS:
        if any(anchor in low for anchor in anchors):
            for match in pattern.finditer(text):
                name = (match["name"] if "name" in pattern.groupindex else match[0]).strip()
                if kind != "cert" or not CERTIFICATE_AUTHORITIES.match(name):
                    yield kind, name
    yield from (("card", m[0]) for m in CARD.finditer(text) if _is_card(m[0]))
    yield from (
        ("email", m[0])
        for m in ENCODED_RUN.finditer(text)
        if not len(m[0]) % BASE64_GROUP_CHARS and EMAIL.fullmatch(_decoded(m[0]))
    )


def _decoded(run: str) -> str:
    """The text in a run of base64 or of hexadecimal digits; empty for one that holds none."""
    try:
        data = (
            bytes.fromhex(run)
            if re.fullmatch(r"[0-9a-fA-F]+", run)
            else base64.b64decode(run.replace("-", "+").replace("_", "/"))
        )
        return unquote(data.decode("ascii"))
    except (binascii.Error, ValueError):
        return ""


def _is_card(text: str) -> bool:
    """Luhn's check of the digits (ISO/IEC 7812)."""
    digits = [int(c) for c in reversed(text) if c.isdigit()]
    if not LEAST_CARD_DIGITS <= len(digits) <= MOST_CARD_DIGITS or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * d, 10)) for d in digits[1::2]]
    return not (sum(digits[::2]) + sum(doubled)) % 10


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.IPv6Address(text) not in (ipaddress.IPv6Address("::"), ipaddress.IPv6Address("::1"))
    except ValueError:
        return False


# Words that are no names, although they occur in the places of names.
COMMON_WORDS_TEXT = """
    root user users admin nobody daemon system kernel python python3 localhost none null unknown true false default ubuntu debian
    centos ec2-user jovyan runner shared public guest slurm docker containerd kubelet systemd jupyter torchrun train training main
    node host worker master server client login log logs info warning error warn debug rank gpu cpu cuda local localdomain home
    data git work test tmp var opt usr lib bin src run job the and for not with from this that was has are case stdin version name
"""
COMMON_NAMES = frozenset(COMMON_WORDS_TEXT.split())
# Sites that occur in everybody's logs; they do not identify the owner of a log.
PUBLIC = lazy.regex(
    r"\A(?:(?:.*\.)?(?:github|gitlab|githubusercontent|google|googleapis|nvidia|amazonaws|microsoft|docker|slack"
    r"|discord|wandb|anaconda)\.\w+\Z"
    r"|(?:.*\.)?(?:pytorch|tensorflow|python|kernel|gnu|apache|jupyter|readthedocs|numpy|freedesktop|man7"
    r"|kubernetes)\.(?:org|io)\Z"
    r"|(?:.*\.)?(?:huggingface\.co|hf\.co|wandb\.ai|lightning\.ai|example\.(?:com|org|net))\Z|\w+\.(?:py|log|txt"
    r"|json|yaml|so|sh|c|h|cpp|cu)\Z)",
    re.IGNORECASE,
)
HOST_NAME_GROUP = r"(?P<name>[A-Za-z](?:[A-Za-z0-9-]{0,62})(?:\.[A-Za-z0-9-]{1,63}){0,6})"
USER = r"(?P<name>[A-Za-z_][\w.-]{1,31}\$?)"
JOB_NAME_GROUP = r"(?P<name>[A-Za-z0-9][\w.-]{2,120})"
STAMP_TEXT_PATTERN = (
    r"(?:[A-Z][a-z]{2}\s+\d{1,2}\s\d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
)
# Kind, lower-case texts of which one must occur, and the place of the name. A text without any costs a few substring searches.
LIST_GROUP = r"(?P<list>[A-Za-z][\w.,\[\]-]{1,2000})"
HOME_ROOTS = (
    "home",
    "users",
    "scratch",
    "lustre",
    "gpfs",
    "u",
    "homes",
    "fsx",
    "beegfs",
    "netscratch",
    "nobackup",
    "workspace",
    "rds",
    "cephfs",
)
LAYERS = r"(?:/(?:home|users?|usr|scratch|work|data|fs\d{0,2}|projects?|groups?|tmp|[a-z]{1,2}\d{0,2}|nfs|home\d))*"
ORGANISATION = r"(?P<org>[A-Za-z0-9][\w.-]{0,60})"
REPOSITORY = r"(?P<repo>[A-Za-z0-9][\w.-]{0,100}?)(?:\.git)?(?=[/\s\"'`:#?@),;\]]|$)"
# Kinds with their groups of a name, where one place tells several.
PAIRS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (
        ("wandb.ai/",),
        lazy.regex(rf"wandb\.ai/{ORGANISATION}(?:/(?P<project>[\w.-]{{1,120}}))?(?:/runs/(?P<run>[\w-]{{1,120}}))?"),
    ),
    (
        ("github.com", "gitlab", "bitbucket.org", "huggingface.co/", "ghcr.io/"),
        lazy.regex(
            rf"(?:github\.com|gitlab(?:\.[\w-]+)+|bitbucket\.org|huggingface\.co(?:/datasets|/spaces)?"
            rf"|ghcr\.io)[:/]{ORGANISATION}/{REPOSITORY}"
        ),
    ),
    (("git@",), lazy.regex(rf"git@[\w.-]+:{ORGANISATION}/{REPOSITORY}")),
    (
        ("syncing run", "wandb: run", "run name:"),
        lazy.regex(r"(?:Syncing run|wandb: Run|run name:)[ \t]+(?P<run>[A-Za-z0-9][\w.-]{2,120})"),
    ),
    (("wandb/", "run-"), lazy.regex(r"\b(?:offline-)?run-\d{8}_\d{6}-(?P<run>[\w-]{6,40})")),
    (
        ("entity", "organization", "organisation"),
        lazy.regex(r"\b(?:entity|organi[sz]ation|org)[\"']?\s*[:=]\s*[\"']?(?P<org>[A-Za-z0-9][\w.-]{1,60})"),
    ),
)
PUBLIC_ORGANISATIONS_TEXT = """
    pytorch huggingface nvidia tensorflow python google google-research microsoft meta-llama facebookresearch openai
    keras-team ray-project jupyter jupyterlab ipython numpy scipy pandas-dev lightning-ai pytorchlightning wandb
    kubernetes docker moby containerd slurm schedmd dask apache intel amd rocm mistralai qwen deepseek-ai bigscience
    eleutherai stabilityai conda conda-forge anaconda pypa torvalds linux triton-lang dao-ailab vllm-project sgl-project
    bitsandbytes-foundation timdettmers jax-ml deepmind xla mlflow gperftools openucx open-mpi hpcaitech
    axolotl-ai-cloud unslothai modelscope bert-base-uncased gpt2 datasets spaces models docs blog settings tokens join
    features enterprise about login site topics issues runs
"""
PUBLIC_ORGANISATIONS = frozenset(PUBLIC_ORGANISATIONS_TEXT.split())
PLACES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("host", (": ",), lazy.regex(rf"^(?:<\d+>)?{STAMP_TEXT_PATTERN} {HOST_NAME_GROUP} [\w./-]+(?:\[\d+\])?: ")),
    ("host", (" nccl ",), lazy.regex(rf"(?:^|\s|\]){HOST_NAME_GROUP}:\d{{2,7}}:\d{{2,7}} \[\d+\] NCCL ")),
    (
        "host",
        ("host", "node", "master_addr", "rdzv_endpoint", "server"),
        lazy.regex(
            rf"\b(?:hostname|host|node|nodename|node_name|nodelist|master_addr|rdzv_endpoint"
            rf"|server)\s*[=:]\s*[\"']?{HOST_NAME_GROUP}",
            re.I,
        ),
    ),
    (
        "host",
        ("srun: ", "slurmstepd"),
        lazy.regex(rf"\b(?:srun|salloc|sbatch): (?:error: |launch/\w+: )?{HOST_NAME_GROUP}: (?:task|tasks|\w+ )"),
    ),
    (
        "host",
        (" on ",),
        lazy.regex(rf"\b(?:STEP|JOB|job|step|launched|running|task \d+) [\w.+]{{0,24}} ?(?:ON|on) {HOST_NAME_GROUP}(?= |$)"),
    ),
    ("host", ("] ",), lazy.regex(rf"^\[{HOST_NAME_GROUP}:\d{{2,8}}\] ")),
    (
        "host",
        ("ssh ", "scp "),
        lazy.regex(rf"\b(?:ssh|scp|sftp)[ \t]+(?:-\w+[ \t]+){{0,6}}(?:[\w.-]{{1,32}}@)?{HOST_NAME_GROUP}(?=[:\s]|$)"),
    ),
    (
        "host",
        ("nodelist", "node_list", "batchhost", "nodes "),
        lazy.regex(rf"(?:NodeList|NODELIST|nodelist|NODE_LIST|BatchHost|allocated nodes|Nodes)(?:=|: | ){LIST_GROUP}"),
    ),
    (
        "host",
        ("on node ", "on host ", "from host ", "to host "),
        lazy.regex(rf"\b(?:on (?:node|host)|from host|to host) {HOST_NAME_GROUP}\b"),
    ),
    (
        "host",  # `node gpu-node-17 (10.42.7.19)`: a name with a number in it, and none of a device, a rank or a graph's node
        ("node ", "host ", "hostname ", "machine "),
        lazy.regex(
            r"(?<!\{)\b(?:node|host|hostname|machine)[ \t]+"
            r"(?!(?:cuda|rank|cpu|numa|pid|port|python|py)[-_.]?\d|(?:gpu|device)[-_]?\d\b)(?P<name>[A-Za-z][A-Za-z-]+[\w.-]*\d[\w.-]*)(?![\w.-]*[@/])",
            re.I,
        ),
    ),
    ("host", ("://",), lazy.regex(rf"\b[a-z][a-z0-9+.-]{{1,20}}://(?:[^\s/@]*@)?{HOST_NAME_GROUP}(?=/|:(?![^\s/@]*@))", re.I)),
    (
        "host",
        (".local", ".internal", ".lan", ".intra", ".corp", ".cluster", ".private"),
        lazy.regex(
            r"(?<![\w.-])(?P<name>[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63})*\.(?:local|internal|lan|intra|corp|cluster|private))\b"
        ),
    ),
    ("host", ("@",), lazy.regex(rf"\b[\w.-]{{1,32}}@{HOST_NAME_GROUP}(?=[:\s$#]|$)")),
    (
        "user",
        tuple(f"/{root}/" for root in HOME_ROOTS),
        lazy.regex(rf"/(?:{'|'.join(HOME_ROOTS)}){LAYERS}/{USER}(?=[/\s\"':,)\]]|$)", re.I),
    ),
    ("user", (":\\",), lazy.regex(rf"\b[A-Z]:\\+Users\\+{USER}", re.I)),
    (
        "user",
        ("user", "logname"),
        lazy.regex(rf"\b(?:(?:user|username|logname)\s*[=:]\s*|for user\s+|by user\s+)[\"'(]?{USER}(?=[\s\"'(),;:]|$)", re.I),
    ),
    (
        "user",
        ("userid=", "owner=", "account="),
        lazy.regex(rf"\b(?:UserId|Owner|owner|Account|GroupId)=\"?{USER}(?=[\s\"'(),;:]|$)"),
    ),
    (
        "user",
        ("login", "logged in", "publickey for", "password for", "sudo: ", "su: ", "whoami"),
        lazy.regex(
            rf"(?:\blogin[:=]?[ \t]+(?:as[ \t]+)?|logged in as:?[ \t]+|\b(?:publickey|password|key) for "
            rf"(?:invalid user )?|\bsudo: +|\bsu: +(?:\(to \w+\) +)?)"
            rf"[\"']?{USER}(?=[\s\"'(),;:.]|$)"
        ),
    ),
    (
        "user",
        ("chown", "chgrp", "useradd", "usermod", "passwd ", "su - ", "ssh "),
        lazy.regex(
            rf"\b(?:chown|chgrp|useradd|usermod|userdel|su|passwd|ssh)[ \t]+(?:--?[\w=-]+[ \t]+){{0,6}}"
            rf"(?:-l[ \t]+)?{USER}(?=[@:\s]|$)(?![ \t]*=)"
        ),
    ),
    ("user", ("chown",), lazy.regex(rf"\bchown[ \t]+(?:--?[\w=-]+[ \t]+){{0,6}}[\w.-]*:{USER}(?=\s|$)")),
    ("user", (":/",), lazy.regex(rf"(?:^|[\s\"']){USER}:[x*!]?:\d{{1,10}}:\d{{1,10}}:[^:]{{0,100}}:/")),
    ("person", (":/",), lazy.regex(r":[x*!]?:\d{1,10}:\d{1,10}:(?P<name>[^:,\d]{3,60}?)[,:]")),
    ("user", ("uid=",), lazy.regex(rf"\buid=\d+\({USER}\)")),
    ("user", ("://",), lazy.regex(rf"://{USER}(?::[^\s/@]{{0,200}})?@")),
    ("user", ("@",), lazy.regex(rf"(?:^|\s){USER}@[A-Za-z][\w.-]*(?=[:\s$#~]|$)")),
    (
        "job",
        ("job", "pod", "run", "experiment"),
        lazy.regex(
            rf"\b(?:job[_-]?name|jobname|--job-name|pod|pod[_-]name|run[_-]name"
            rf"|experiment[_-]name)\s*[=:]\s*[\"']?{JOB_NAME_GROUP}",
            re.I,
        ),
    ),
    (
        "job",
        ("pod", "job", "deployment", "statefulset"),
        lazy.regex(rf"\b(?:pod|job|deployment|statefulset|pytorchjob)s?(?:\.\w+)*/{JOB_NAME_GROUP}"),
    ),
)
