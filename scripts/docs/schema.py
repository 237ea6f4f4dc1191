"""The page of the report's JSON schema: each field with its type, from forensics/report/schema.json."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.docs import ROOT
from scripts.docs.markdown import code, page, plain, table

FILE = ROOT / "forensics" / "report" / "schema.json"


def schema_page() -> str:
    """The page."""
    schema = json.loads(FILE.read_text(encoding="utf-8"))
    said = (
        "One document of `--format json`; more fields may come, none of these goes. The schema itself is "
        f"`forensics/report/schema.json` in the package, `{schema['title']}`. What the parts mean: [the report](report.md)."
    )
    parts = []
    for name, field in schema["properties"].items():
        rows = [(code(path), kind, told) for path, kind, told in _fields(name, field)]
        parts.append(f"## {name}\n\n" + table(("field", "type", "allowed"), rows))
    return page("The report as JSON", said, *parts)


def _fields(path: str, field: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    kind = field.get("type", "")
    kinds = kind if isinstance(kind, list) else [kind]
    allowed = ", ".join(code(json.dumps(v)) for v in field.get("enum", [field["const"]] if "const" in field else []))
    limits = ", ".join(f"{k} {field[k]}" for k in ("minimum", "maximum", "format", "pattern") if k in field)
    yield path, " or ".join(k for k in kinds if k), allowed or plain(field.get("description", "") or limits)
    for name, below in field.get("properties", {}).items():
        yield from _fields(f"{path}.{name}", below)
    for choice in field.get("anyOf", field.get("oneOf", ())):
        for name, below in choice.get("properties", {}).items():
            yield from _fields(f"{path}.{name}", below)
    items = field.get("items", {})
    if items:
        yield from (_fields(f"{path}[]", items) if "properties" in items else ())
