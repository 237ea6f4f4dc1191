"""A module that waits is loaded at its first use, and is then the one that everybody has."""

import subprocess
import sys

import pytest

START = "import sys\nfrom forensics.core.later import import_later\n"


@pytest.mark.parametrize(
    ("before", "code", "told"),
    [
        ("'json'", "import json; print('json.decoder' in sys.modules, json.loads('[1]'), 'json.decoder' in sys.modules)", "False [1] True"),
        ("'json'", "from json import loads; print(loads('[2]'))", "[2]"),
        ("'json'", "import json.decoder; print(json.decoder.JSONDecoder.__name__)", "JSONDecoder"),
        ("'json'", "import json as a; a.loads; import json as b; print(a is b, a.loads is b.loads)", "False True"),
        ("'textwrap', 'fill'", "from textwrap import fill; print('__file__' in vars(sys.modules['textwrap']), fill('a b', 1))", "False a\nb"),
        ("'textwrap'", "import textwrap; print(hasattr(textwrap, 'nothing'), textwrap.fill('c'))", "False c"),
        ("'sys'", "print(type(sys).__name__)", "module"),
    ],
)  # fmt: skip
def test_a_module_waits_until_it_is_used(before: str, code: str, told: str) -> None:
    done = subprocess.run([sys.executable, "-S", "-c", f"{START}import_later({before})\n{code}"], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (told, "")


def test_what_msgspec_has_is_there_at_the_command_line() -> None:
    code = "from forensics import cli; import msgspec, uuid, platform; print(msgspec.json.schema(int), msgspec.inspect.type_info(str))"
    done = subprocess.run([sys.executable, "-c", f"{code}; print(platform.python_version())"], capture_output=True, text=True)
    version = ".".join(map(str, sys.version_info[:3]))
    assert done.stdout.startswith("{'type': 'integer'} StrType(") and done.stdout.strip().endswith(version), done.stderr
