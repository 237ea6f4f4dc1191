"""The words under which secrets stand, in several languages, and the values in their place that are none."""

import re

from forensics.core import lazy

# Words for a password. Whatever follows them after a colon or an equals sign is masked.
PASSWORD_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "requirepass", "userpass", "dbpass"),  # English
    *("passwort", "kennwort", "passwörter", "contraseña", "contrasena", "mot de passe", "mot_de_passe", "motdepasse"),
    *("senha", "palavra-passe", "parola d'ordine", "wachtwoord", "lösenord", "losenord", "adgangskode", "passord"),
    *("salasana", "hasło", "haslo", "heslo", "jelszó", "jelszo", "parolă", "parool", "lozinka", "geslo", "şifre", "parola"),
    *("пароль", "лозинка", "парола", "κωδικός πρόσβασης", "סיסמה", "كلمة المرور", "كلمة السر", "رمز عبور", "गुप्त शब्द", "पासवर्ड"),
    *("kata sandi", "mật khẩu", "รหัสผ่าน", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호"),
)
SHORT_PASSWORD_WORDS = ("pass", "pwd", "pw", "sifre", "pswd")  # words of their own: not in `bypass`, `pwdx`
# Words for other secrets. Behind them only what looks random is masked: logs are full of `pad_token='<pad>'`.
SECRET_WORDS = (
    *("secret", "secreto", "geheim", "credential", "creds", "jeton", "ficha_acceso", "apikey", "auth_data", "authkey"),
    *("schlüssel", "schluessel", "clave", "clé", "chave", "chiave", "sleutel", "klucz", "nyckel", "avain", "anahtar"),
    *(
        "токен",
        "секрет",
        "ключ",
        "密钥",
        "密鑰",
        "令牌",
        "秘钥",
        "トークン",
        "秘密鍵",
        "アクセスキー",
        "토큰",
        "비밀키",
        "인증키",
    ),
)
KEY_OWNERS = (
    *("api", "access", "private", "encryption", "signing", "account", "storage", "master", "license", "auth", "service"),
    *("client", "ssh", "app", "application", "shared", "subscription", "deploy", "session", "hmac", "consumer", "webhook"),
    *("admin", "function", "host", "user", "write", "ingest", "insert", "integration", "routing", "primary_access", "sas"),
)
# Services whose names stand before their keys, without a word for a secret.
VENDOR_WORDS = (
    *("adafruit", "adobe", "airtable", "algolia", "alibaba", "aliyun", "amplitude", "artifactory", "asana", "atlassian"),
    *("auth0", "beamer", "bitbucket", "bittrex", "bintray", "cerebras", "clearml", "cloudant", "cloudflare", "cloudsmith"),
    *("codecov", "cohere", "coinbase", "comet", "confluence", "confluent", "contentful", "coreweave", "databricks", "datadog"),
    *("deepseek", "discord", "droneci", "dropbox", "elevenlabs", "etsy", "facebook", "fastly", "finicity", "finnhub"),
    *("firebase", "fireworks", "flickr", "freshbooks", "gitter", "gocardless", "grafana", "hasura", "heroku", "hetzner"),
    *("hubspot", "huggingface", "ibmcloud", "infura", "intercom", "jfrog", "jira", "kraken", "kucoin", "labelbox"),
    *("lambdalabs", "langchain", "langsmith", "launchdarkly", "linkedin", "linked_in", "linode", "looker", "mailchimp"),
    *("mailgun", "mapbox", "mattermost", "meraki", "messagebird", "message_bird", "mistral", "netlify", "newrelic"),
    *("new_relic", "new-relic", "ngrok", "nytimes", "okta", "openrouter", "opsgenie", "pagerduty", "paperspace", "pinecone"),
    *("plaid", "polygon", "privateai", "private_ai", "private-ai", "quandl", "rapidapi", "replicate", "runpod", "sendbird"),
    *("sendgrid", "sentry", "serpapi", "shodan", "slack", "snowflake", "snyk", "softlayer", "sonarqube", "splunk", "squarespace"),
    *("stability", "sumologic", "tailscale", "telegram", "togetherai", "travisci", "twilio", "twitch", "twitter", "typeform"),
    *("upstash", "vastai", "vast_ai", "vultr", "wandb", "weatherapi", "yandex", "zapier", "zendesk", "contribsys"),
    *("sumo", "travis", "square", "voyage", "sonar"),
)
# Values in the place of a secret that are no secrets.
EMPTY_VALUE_PATTERN = lazy.regex(
    r"\A(?:none|null|nil|true|false|undefined|default|unset|empty|redacted|hidden|required|optional|missing|invalid|expired|incorrect"
    r"|authentication|auth|failed|failure|str|string|bytes|int|bool|yes|no|not|is|was|for|and|or|the|wrong|rejected|denied|changed"
    r"|on|off|error|mismatch|must|should|cannot|does|field|falsch|incorrecta|incorrect[eo]?|x{3,}|\.{2,}\S*|\*+|-+|•+|[<$%{\[(].*"
    r"|os\.environ\S*|getenv\S*|your[-_ ].*|self\.\S*|args?\.\S*|cfg\.\S*|config\.\S*|n/?a|tensor\(.*|torch\.\S*)\Z",
    re.IGNORECASE,
)
# A call, a template, an address, or the name of a file.
CODE_VALUE_PATTERN = lazy.regex(
    r"[A-Za-z_][\w.]*\(.*|.*(?:\$\{[\w.:?/-]*\}|\{\{[\w .|()'\"-]*\}\}|%\(\w+\)).*|https?://.*|[\w./\\:-]*\.(?:py|so|pt|pth|pem|crt|json|ya?ml|txt|log|safetensors|bin|cc?|cpp|h|cuh?|sh|go|js|rs)"
    r"(?::\d+)?|.*\.\.\.|[a-z_]+(?:\.[a-z_]+)+\d?|[A-Za-z_][\w.]*\[.*|.*[)\]]\..*"
    r"|[\w.$]+@[0-9a-f]{6,8}|[A-Za-z_]\w{0,24}(?:\.\w{1,24}){2,}|(?-i:[A-Z]+_[A-Z_]+=).*|(?:PCI|GPU|CPU|cuda|node|rank|sha256|md5|sha1)[:-]?[\w:.-]*",
    re.IGNORECASE,
)


def one_of(words: tuple[str, ...]) -> str:
    """A pattern for one of `words`, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
