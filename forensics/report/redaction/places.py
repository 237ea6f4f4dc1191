"""Secrets that are recognised by their place: in a URL, a command line, a line of a file of credentials, a block of a key."""

import re

from forensics.core import lazy
from forensics.report.redaction.named import WANDB_KEY, Rule

OPTION_VALUE = r"(?:\"(?P<secret>[^\"]{2,4096})\"|'(?P<secret2>[^']{2,4096})'|(?P<secret3>[^\s\"'|;]{3,4096}))"
# Programs with the letter of their option for a password.
PASSWORD_OPTIONS = (
    r"(?:mysql|mysqldump|mysqladmin|mariadb)\b[^|;\n]{0,200}?[ \t]-p(?=\S)"
    r"|redis-cli\b[^|;\n]{0,200}?[ \t]-a[ \t]+|sshpass[ \t]+-p[ \t]*|(?:docker|podman|az|helm|nerdctl"
    r"|skopeo)\b[^|;\n]{0,200}?login\b[^|;\n]{0,200}?[ \t]-p[ \t]+"
    r"|(?:ldapsearch|ldapmodify|ldapadd|ldapwhoami)\b[^|;\n]{0,200}?[ \t]-w[ \t]+|(?:useradd|usermod)\b[^"
    r"|;\n]{0,200}?[ \t](?:-p|--password)[ \t]+"
    r"|htpasswd\b[ \t]+-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+|openssl\b[^|;\n]{0,200}?[ \t]-(?:pass|passin|passout|k)[ \t]+(?:pass:)?"
    r"|(?:smbclient|rpcclient|net)\b[^|;\n]{0,200}?[ \t]-U[ \t]*\S+%|ipmitool\b[^|;\n]{0,200}?[ \t]-P[ \t]+"
    r"|sqlcmd\b[^|;\n]{0,200}?[ \t]-P[ \t]*"
    r"|(?:mongo|mongosh|mongodump)\b[^|;\n]{0,200}?[ \t]-p[ \t]+|(?:wandb|comet|huggingface-cli|hf|kaggle|ngrok"
    r"|prefect|vault|clearml)\b[^|;\n]{0,60}?"
    r"(?:login|authtoken|auth)[ \t]+(?:--?[a-z-]+[ \t]+)?(?=[\w.-]{16})"
    r"|(?<![.\w])(?:7z|zip|unzip)\b[^|;\n]{0,100}?[ \t]-[pP](?=\S{4})"
)
PASSWORD_PROGRAMS = (
    *(
        "mysql",
        "mariadb",
        "redis-cli",
        "sshpass",
        "docker",
        "podman",
        "az ",
        "helm",
        "skopeo",
        "ldap",
        "useradd",
        "usermod",
        "htpasswd",
    ),
    *("openssl", "smbclient", "rpcclient", "net ", "ipmitool", "sqlcmd", "mongo", "wandb", "comet", "huggingface-cli", "hf "),
    *("kaggle", "ngrok", "prefect", "vault", "clearml", "7z", "zip"),
)

PLACED_SECRET_RULES = (
    # URLs: the password of user:password@, a token in place of the user, keys among the parameters and in the path.
    Rule(
        "password",
        ("://",),
        lazy.regex(
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'?#\[]{0,200}:(?P<secret>[^\s/@\"'?#]{1,400}(?:/[^\s/@\"'?#]{1,100})?)@", re.I
        ),
    ),
    Rule("token", ("://",), lazy.regex(r"\bhttps?://(?P<secret>[A-Za-z0-9_~.-]{20,400})@", re.IGNORECASE)),
    Rule(
        "url-key",
        ("?", "&"),
        lazy.regex(
            r"[?&](?:[a-z_-]{0,20}(?:token|secret|passw(?:or)?d|signature|credential|api_?key|access_?key)|sig"
            r"|key|code|auth|pwd|pass)="
            r"(?P<secret>[^\s&\"'#<>]{6,4096})",
            re.IGNORECASE,
        ),
    ),
    Rule(
        "webhook",
        ("hooks.slack.com/", "/api/webhooks/", "webhook.office.com/", "/soap/v3", "hooks.zapier.com/"),
        lazy.regex(
            r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/|webhook\.office\.com/"
            r"|/soap/v3(?:\.1)?/|hooks\.zapier\.com/hooks/catch/)"
            r"(?P<secret>[\w/@.-]{15,300})"
        ),
    ),
    Rule("token", ("/t/",), lazy.regex(r"://[\w.:-]+/t/(?P<secret>[A-Za-z0-9-]{16,100})/"), "key"),  # Anaconda's channels
    Rule("sentry-dsn", ("sentry", ".ingest."), lazy.regex(r"https?://(?P<secret>[0-9a-f]{32})@[\w.-]*sentry")),
    Rule(
        "azure-storage-key",
        ("accountkey=", "sharedaccesskey="),
        lazy.regex(r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})"),
    ),
    Rule("package-token", ("_authtoken", "_auth="), lazy.regex(r"(?i:_authToken|_auth)\s*=\s*(?P<secret>[^\s\"']{8,300})")),
    # Command lines, also as sudo, an audit or a shell's trace repeats them.
    Rule(
        "password",
        ("--",),
        lazy.regex(
            rf"--[a-z-]{{0,30}}(?:password|passwd|pass|token|secret|api-?key|access-?key|authkey|auth-key)"
            rf"(?:[ \t]+|=){OPTION_VALUE}",
            re.IGNORECASE,
        ),
        "no path",
    ),
    Rule("password", PASSWORD_PROGRAMS, lazy.regex(rf"\b(?:{PASSWORD_OPTIONS}){OPTION_VALUE}"), "no path"),
    Rule(
        "password",
        ("curl", "wget", "http"),
        lazy.regex(
            r"\bcurl\b.{0,400}?[ \t](?:-u|--user)(?:[ \t]*|=)(?:[\"']?[^\s:\"']{0,80}[\"']?:(?:\""
            r"(?P<secret>[^\"]{3,200})\"|'(?P<secret2>[^']{3,200})'"
            r"|(?P<secret3>[^\s\"']{3,200}))|\"(?P<secret4>[^\":]{3,80}):\")"
        ),
    ),
    Rule(
        "password",
        ("| sudo", "|sudo", "chpasswd", "| passwd", "--stdin"),
        lazy.regex(
            r"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?[\"']?(?:[\w.-]+:)?(?P<secret>[^\s\"'"
            r"|]{3,200})[\"']?[ \t]*\|[ \t]*(?:sudo\b|passwd\b|chpasswd\b|\w+ .{0,40}stdin)"
        ),
    ),
    # Files of credentials: .netrc, .pgpass, shadow, WireGuard, NuGet.
    Rule("password", ("machine ", "login "), lazy.regex(r"\blogin\s+\S+\s+password\s+(?P<secret>\S+)", re.IGNORECASE)),
    Rule(
        "password",
        (":*:", ":543", ":643", ":26257:"),  # the ports of PostgreSQL, its poolers and its kin
        lazy.regex(
            r"(?:^|[\s\"'])(?:[A-Za-z*][\w.*-]{0,200}|\d{1,3}(?:\.\d{1,3}){3}):(?:\d{4,5}|\*):"
            r"(?:[A-Za-z][\w-]{0,60}|\*):[A-Za-z*][\w.@-]{0,60}:(?P<secret>[^\s:\"']{3,200})(?=$|[\s\"'])"
        ),
    ),
    Rule("password-hash", (":$",), lazy.regex(r"\b[\w.-]{1,32}:(?P<secret>\$(?:[156y]|2[aby]|argon2\w*)\$[\w./$=,+-]{8,200})")),
    Rule(
        "password-hash",
        ("$2a$", "$2b$", "$2y$", "$6$", "$argon2"),
        lazy.regex(r"(?P<secret>\$(?:6|2[aby]|argon2\w*)\$[\w./$=,+-]{20,200})"),
    ),
    Rule("password", ('password"',), lazy.regex(r"key=\"(?:cleartext)?password\"\s*value=\"(?P<secret>.{3,200}?)\"", re.I)),
    Rule("password", ("identified by",), lazy.regex(r"\bidentified\s+by\s+(?:password\s+)?'(?P<secret>[^']{1,200})'", re.I)),
    Rule(
        "sidekiq-key",
        ("contribsys",),
        lazy.regex(r"contribsys[\W_]{1,3}com[\"']?\s*[:=?]{1,4}\s*[\"'`]?(?P<secret>[0-9a-f]{8}:[0-9a-f]{8})", re.I),
    ),
    Rule("wandb-key", ("wandb",), WANDB_KEY),
    Rule(
        "private-key",
        ("private key",),
        lazy.regex(r"-----BEGIN [A-Z0-9 _-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?P<secret>(?:(?!-----END)[^\"']){1,8192})", re.S),
    ),
    Rule("private-key", ("private-lines:", "private-mac:"), lazy.regex(r"Private-MAC:\s*(?P<secret>[0-9a-f]{32,64})")),
)
