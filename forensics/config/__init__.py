"""Configuration: signature folders, cache, history, limits and capture options, from a YAML file and environment variables.

    signatures: [~/signatures, /etc/forensics/signatures]      # later folders override earlier ones
    cache: /var/tmp/forensics
    history: ~/history.db                                      # or postgresql://...: every report is remembered there
    limits: {files: 500000, document: 1 GiB}                   # names and defaults: SECURITY.md
    capture: {keep: crash, folder: ~/runs, every: 5s, stall: 15m, max_log: 1 GiB, kernel_log: false, env: true, warn: true,
              redact: true, termination_file: /dev/termination-log, on_crash: 'notify {bundle}'}      # docs/capture.md
    tell: {webhook: {url: https://..., form: slack}, prometheus: {path: /var/lib/node_exporter/forensics.prom}}  # docs/tell.md

The file is `$FORENSICS_CONFIG`, else `config.yaml` in the user's configuration folder (~/.config/forensics on Linux) if it
exists. `$FORENSICS_SIGNATURES` adds folders, separated as in PATH. `$FORENSICS_CACHE` overrides `cache`, `$FORENSICS_HISTORY`
overrides `history`, and `$FORENSICS_LIMIT_FILES=500000` overrides the limit `files`.

The section `tell` of the configuration file: who is told of a death (docs/tell.md).

tell: {webhook: {url: https://..., form: slack}, names: false}

The section `capture` of the configuration file: defaults for the options of a captured run (docs/capture.md).

capture: {keep: crash, every: 5s, max_log: 1 GiB}   ->   (("keep", "crash"), ("every_s", 5.0), ("max_log_bytes", 1073741824))
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from forensics.core import user_folders
from forensics.core.errors import UsageError, files_at
from forensics.core.limits import Limits, limit_names, size_of, with_values

SECONDS_PER_UNIT = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
KEEP_VALUES = ("crash", "always", "never")
# key of the section -> (option of a captured run, type of its value)
OPTIONS = {
    "keep": ("keep", "keep"),
    "folder": ("folder", "path"),
    "every": ("every_s", "duration"),
    "stall": ("stall_s", "duration"),
    "max_log": ("max_log_bytes", "size"),
    "kernel_log": ("kernel_log", "switch"),
    "env": ("environment", "switch"),
    "warn": ("warn", "switch"),
    "redact": ("redact", "switch"),
    "termination_file": ("termination_file", "path"),
    "on_crash": ("on_crash", "text"),
}


def capture_options(given: dict[str, Any], section_line: int, resolve: Callable[[str], str]) -> tuple[tuple[str, object], ...]:
    """The options that `given` sets, by their names in capture.options. `resolve` makes a path of the file absolute. Raises
    BadFormError, with its line, for an unknown key or a value of another type."""
    from forensics.data_files.form import LINE_KEY, BadFormError, keys, text

    keys(given, set(OPTIONS), set(), section_line)
    found: dict[str, object] = {}
    for key, (option, kind) in OPTIONS.items():
        if key not in given:
            continue
        value = given[key]
        if kind == "switch":
            if not isinstance(value, bool):
                raise BadFormError(given[LINE_KEY], f"{key} must be true or false")
            found[option] = value
            continue
        written = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else text(given, key)
        try:
            found[option] = {"path": resolve, "duration": seconds, "size": _size}.get(kind, str)(written)
        except UsageError as error:
            raise BadFormError(given[LINE_KEY], f"{key}: {error.args[0]}") from error
        if kind == "keep" and written not in KEEP_VALUES:
            raise BadFormError(given[LINE_KEY], f"{key} must be one of {', '.join(KEEP_VALUES)}")
    return tuple(found.items())


def seconds(text: str) -> float:
    """The seconds of `5s`, `15m`, `1.5h`, `2d` or a plain number; raises UsageError for other text."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in SECONDS_PER_UNIT else (text, "s")
    try:
        found = float(number) * SECONDS_PER_UNIT[unit]
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UsageError(f"{text!r} is not a duration", advice="write 30s, 15m or 2h")
    return found


def _size(text: str) -> int:
    size = size_of(text)
    if size is None:
        raise UsageError(f"{text!r} is not a size", advice="write 1 GiB or 500 MiB")
    return size


# Each sink with the settings that it needs and those that it may have; all are texts.
SINK_SETTINGS: dict[str, tuple[set[str], set[str]]] = {
    "webhook": ({"url"}, {"form"}),
    "prometheus": ({"path"}, set()),
    "wandb": (set(), {"project", "folder", "mode"}),
    "mlflow": ({"uri"}, {"experiment"}),
    "tensorboard": ({"folder"}, set()),
    "opentelemetry": ({"endpoint"}, set()),
    "kubernetes": (set(), {"server", "account"}),
}
WEBHOOK_FORMS = ("json", "slack", "teams")
GENERAL = "general"  # settings of no sink: names, spool
GENERAL_SETTINGS = {"names", "spool"}


def tell_settings(data: dict[str, Any]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """The settings of each sink that the file names. Raises BadFormError for an unknown key, with its line."""
    from forensics.data_files.form import LINE_KEY, BadFormError, keys, text

    given = data.get("tell")
    if given is None:
        return ()
    keys(given, {*SINK_SETTINGS, *GENERAL_SETTINGS}, set(), data[LINE_KEY])
    found: dict[str, dict[str, str]] = {}
    for name, (needed, more) in SINK_SETTINGS.items():
        if name not in given:
            continue
        setting = given[name] if isinstance(given[name], dict) else {LINE_KEY: given[LINE_KEY]}
        keys(setting, needed | more, needed, given[LINE_KEY])
        found[name] = {key: text(setting, key) for key in setting if key != LINE_KEY}
        if found[name].get("form", WEBHOOK_FORMS[0]) not in WEBHOOK_FORMS:
            raise BadFormError(given[LINE_KEY], f"form must be one of {', '.join(WEBHOOK_FORMS)}")
    if found:
        found[GENERAL] = {
            key: str(given[key]).lower() if key == "names" else str(given[key]) for key in GENERAL_SETTINGS & set(given)
        }
    return tuple((name, tuple(sorted(each.items()))) for name, each in found.items())


MAX_CONFIG_BYTES = 64 << 10  # a file of settings has a page; what is longer was named by mistake
SECTIONS = {"signatures", "cache", "limits", "history", "capture", "tell"}
Settings = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # each sink with its settings
LIMIT_VARIABLE = "FORENSICS_LIMIT_"


class Config(Struct, frozen=True):
    """`signatures`: folders that override the built-in database, later ones override earlier ones. `cache`: None for the user's
    cache folder.

    `history`: file or URL where reports are stored; empty if they are not stored. `capture`: the options of captured runs that
    the file sets, by their names in capture.options; `folder` is the folder for the bundles. `tell`: who is told of a death.
    """

    signatures: tuple[Path, ...] = ()
    cache: Path | None = None
    limits: Limits = field(default_factory=Limits)
    history: str = ""
    capture: tuple[tuple[str, object], ...] = ()
    tell: Settings = ()


def config(folders: Iterable[Path] = ()) -> Config:
    """The configuration of the file, then of the environment, then `folders` (of the command line). Raises UsageError, with path
    and line, for a missing file or folder and for a file of another form."""
    path = _config_path()
    base = _read(path) if path else Config()
    named = [p for p in os.environ.get("FORENSICS_SIGNATURES", "").split(os.pathsep) if p]
    signatures = (*base.signatures, *(Path(p).expanduser() for p in named), *folders)
    for folder in signatures:
        if not folder.is_dir():
            raise UsageError("no such folder of signatures", str(folder))
    history = os.environ.get("FORENSICS_HISTORY", base.history)
    return Config(tuple(dict.fromkeys(signatures)), base.cache, _with_environment(base.limits), history, base.capture, base.tell)


def _with_environment(base: Limits) -> Limits:
    given = {
        name.removeprefix(LIMIT_VARIABLE).lower(): value
        for name, value in sorted(os.environ.items())
        if name.startswith(LIMIT_VARIABLE)
    }
    try:
        return with_values(base, given)
    except ValueError as error:
        raise UsageError(str(error), f"${LIMIT_VARIABLE}...") from error


def _config_path() -> Path | None:
    named = os.environ.get("FORENSICS_CONFIG")
    if named:
        path = Path(named).expanduser()
        if not path.exists():
            raise UsageError("no such file, and FORENSICS_CONFIG names it", named)
        return path
    path = user_folders.settings() / "config.yaml"
    return path if path.is_file() else None


def _read(path: Path) -> Config:
    with files_at(path), path.open("rb") as file:
        raw = file.read(MAX_CONFIG_BYTES + 1)
    return _parse(path, raw) if raw.strip() else Config()


def _parse(path: Path, raw: bytes) -> Config:
    from forensics.data_files.form import BadFormError, keys, parse, text, texts

    try:
        if len(raw) > MAX_CONFIG_BYTES:
            raise BadFormError(1, f"larger than {MAX_CONFIG_BYTES} bytes")
        data: Any = parse(raw.decode())
        if data is None:
            return Config()
        keys(data, SECTIONS, set())
        cache = text(data, "cache") if "cache" in data else ""
        folders = tuple(_resolve(path, p) for p in texts(data, "signatures"))
        history = text(data, "history") if "history" in data else ""
        history = history if "://" in history or not history else str(_resolve(path, history))
        kept = _resolve(path, cache) if cache else None
        return Config(folders, kept, _limits(data), history, _capture(path, data), tell_settings(data))
    except BadFormError as bad:
        raise UsageError(bad.what, f"{path}:{bad.line}") from bad
    except UnicodeDecodeError as error:
        raise UsageError("is not UTF-8 text", f"{path}:1") from error


def _limits(data: dict[str, Any]) -> Limits:
    from forensics.data_files.form import LINE_KEY, BadFormError, keys

    given = data.get("limits")
    if given is None:
        return Limits()
    keys(given, set(limit_names()), set(), data[LINE_KEY])
    try:
        return with_values(Limits(), {k: v for k, v in given.items() if k != LINE_KEY})
    except ValueError as error:
        raise BadFormError(given[LINE_KEY], str(error)) from error


def _capture(path: Path, data: dict[str, Any]) -> tuple[tuple[str, object], ...]:
    from forensics.data_files.form import LINE_KEY

    given = data.get("capture")
    return () if given is None else capture_options(given, data[LINE_KEY], lambda text: str(_resolve(path, text)))


def _resolve(config_file: Path, named: str) -> Path:
    """A path that the configuration file names: a relative one is relative to the file's folder."""
    return config_file.parent / Path(named).expanduser()
