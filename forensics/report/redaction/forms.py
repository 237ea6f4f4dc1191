"""Secrets that are recognised by their own form, in any place: (kind, anchors in lower case, pattern).

Sources: the issuers' documentation of their token prefixes, and the public lists of push protection and secret scanning. The
last column of docs/redaction.md says which of them are measured.
"""

W = r"(?<![A-Za-z0-9_-])"  # no letter, digit or dash before it: not the middle of another word

SECRET_FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    # git hosts
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{22,255}"),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"),
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w.-]{20,300}",
    ),
    ("bitbucket-token", ("atctt3", "atbb", "atatt3"), rf"{W}AT(?:CTT3|ATT3|BB)[A-Za-z0-9_=-]{{24,300}}"),
    # model hubs and trackers
    ("huggingface-token", ("hf_", "api_org_"), rf"{W}(?:hf_|api_org_)[A-Za-z0-9]{{30,60}}"),
    ("wandb-key", ("wandb_v1_",), r"wandb_v1_[A-Za-z0-9_]{30,200}"),
    ("databricks-token", ("dapi",), rf"{W}dapi[0-9a-f]{{32}}(?:-\d)?"),
    ("neptune-token", ("eyjhcglf",), r"eyJhcGlf[A-Za-z0-9+/=_-]{40,1000}"),
    ("nvidia-token", ("nvapi-",), r"nvapi-[\w-]{40,120}"),
    ("kaggle-token", ("kgat_",), r"KGAT_[0-9a-f]{30,64}"),
    # model services
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[\w-]{20,200}"),
    ("openai-key", ("sk-",), rf"{W}sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]*[A-Za-z0-9]{{20}}[A-Za-z0-9_-]{{0,200}}"),
    ("groq-key", ("gsk_",), rf"{W}gsk_[A-Za-z0-9]{{40,80}}"),
    ("replicate-token", ("r8_",), rf"{W}r8_[A-Za-z0-9]{{37,40}}"),
    ("perplexity-key", ("pplx-",), rf"{W}pplx-[A-Za-z0-9]{{40,64}}"),
    ("xai-key", ("xai-",), rf"{W}xai-[A-Za-z0-9]{{60,100}}"),
    ("runpod-key", ("rpa_",), rf"{W}rpa_[A-Za-z0-9]{{30,60}}"),
    # clouds
    ("aws-key-id", ("akia", "asia", "abia", "acca"), rf"{W}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
    (
        "aws-session-token",
        ("iqojb3", "fwogzx", "fqogzx"),
        rf"{W}(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=]{{60,2000}}",
    ),
    ("google-api-key", ("aiza",), rf"{W}AIza[\w-]{{35}}"),
    ("google-oauth-token", ("ya29.",), r"ya29\.[\w-]{20,2000}"),
    ("google-client-secret", ("gocspx-",), r"GOCSPX-[\w-]{24,40}"),
    (
        "azure-storage-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
    ),
    ("azure-client-secret", ("q~",), rf"{W}[A-Za-z0-9_~.-]{{3}}\dQ~[A-Za-z0-9_~.-]{{31,34}}"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[0-9a-f]{64}"),
    ("alibaba-key-id", ("ltai",), rf"{W}LTAI[A-Za-z0-9]{{12,24}}(?![A-Za-z0-9])"),
    (
        "hashicorp-token",
        ("hvs.", "hvb.", "hvr.", ".atlasv1."),
        r"\bhv[sbr]\.[\w-]{24,300}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}",
    ),
    ("pulumi-token", ("pul-",), rf"{W}pul-[0-9a-f]{{40}}"),
    ("doppler-token", ("dp.",), r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    # packages and containers
    ("npm-token", ("npm_",), rf"{W}npm_[A-Za-z0-9]{{36}}"),
    ("pypi-token", ("pypi-",), r"pypi-[\w-]{50,500}"),
    ("docker-token", ("dckr_",), r"dckr_(?:pat|oat)_[\w-]{20,60}"),
    ("package-token", ("_authtoken", "_auth="), r"(?i:_authToken|_auth)\s*=\s*(?P<secret>[^\s\"']{8,300})"),
    # messages, mail, payment
    ("slack-token", ("xox", "xapp-"), r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,250}"),
    (
        "webhook",
        ("hooks.slack.com/", "/api/webhooks/", "webhook.office.com/"),
        r"(?:hooks\.slack\.com/(?:services|workflows)/|/api/webhooks/|webhook\.office\.com/)(?P<secret>[\w/@.-]{15,300})",
    ),
    ("discord-token", (".",), rf"{W}[MNO][A-Za-z\d_-]{{23,25}}\.[\w-]{{6}}\.[\w-]{{27,38}}(?![\w-])"),
    ("telegram-token", (":aa",), r"(?<!\d)\d{8,10}:AA[\w-]{32,34}"),
    ("sendgrid-key", ("sg.",), rf"{W}SG\.[\w-]{{16,32}}\.[\w-]{{30,64}}"),
    ("mailgun-key", ("key-",), rf"{W}key-[0-9a-f]{{32}}(?![0-9a-f])"),
    ("twilio-key", ("sk",), rf"{W}SK[0-9a-f]{{32}}(?![0-9a-f])"),
    ("stripe-key", ("sk_live_", "rk_live_", "sk_test_", "whsec_"), r"\b(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{16,250}"),
    # watching and development
    ("grafana-token", ("glsa_", "glc_"), r"\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|\bglc_[A-Za-z0-9+/=]{32,400}"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"\bsntry[su]_[A-Za-z0-9+/=_-]{40,400}"),
    ("sentry-dsn", (".ingest.", "sentry"), r"https?://(?P<secret>[0-9a-f]{32})@[\w.-]*sentry"),
    ("newrelic-key", ("nrak-",), rf"{W}NRAK-[A-Z0-9]{{27}}"),
    ("linear-key", ("lin_api_",), r"\blin_api_[A-Za-z0-9]{40}"),
    ("notion-token", ("ntn_", "secret_"), r"\bntn_[A-Za-z0-9]{40,60}|\bsecret_[A-Za-z0-9]{43}\b"),
    ("postman-key", ("pmak-",), r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("prefect-key", ("pnu_",), rf"{W}pnu_[A-Za-z0-9]{{36}}"),
    # forms of many issuers
    ("jwt", ("eyj",), r"\beyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}\.[\w-]{8,2000}"),
    ("age-key", ("age-secret-key-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
)
