"""The section `tell` of the configuration file: who is told of a death (docs/tell.md).

tell: {webhook: {url: https://..., form: slack}, names: false}
"""

from typing import Any

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
