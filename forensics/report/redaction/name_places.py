"""Where names of people and places stand in a log: (kind, lower-case texts of which one must occur, the place of the name)."""

import re

from forensics.core import lazy

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
