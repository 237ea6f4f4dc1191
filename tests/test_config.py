"""The configuration file, the environment and the command line, in this order; what is wrong is told with its place."""

import os
from pathlib import Path

import pytest

from forensics.config import Config, config
from forensics.core.errors import UsageError


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORENSICS_CONFIG", raising=False)
    monkeypatch.delenv("FORENSICS_SIGNATURES", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "site" / "config.yaml"
    path.parent.mkdir()
    monkeypatch.setenv("FORENSICS_CONFIG", str(path))
    return path


def made(*folders: Path) -> list[Path]:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    return list(folders)


def test_without_anything_there_is_nothing() -> None:
    assert config() == Config()


def test_the_users_own_file_is_found(tmp_path: Path) -> None:
    pytest.importorskip("platformdirs")
    import platformdirs

    folder = Path(platformdirs.user_config_dir("forensics", appauthor=False))
    made(folder, folder / "a")
    (folder / "config.yaml").write_text("signatures: a\n")
    assert config().signatures == (folder / "a",)


def test_the_order_is_file_environment_command_line(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c, d, home = made(file.parent / "a", tmp_path / "b", tmp_path / "c", tmp_path / "d", tmp_path / "home" / "h")
    file.write_text(f"signatures: [a, {b}, ~/h]\ncache: ../cache\n")
    monkeypatch.setenv("FORENSICS_SIGNATURES", os.pathsep.join([str(c), "", str(b)]))
    assert config([d]) == Config((a, b, home, c, d), file.parent / ".." / "cache")


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n"])
def test_an_empty_file_says_nothing(file: Path, text: str) -> None:
    file.write_text(text)
    assert config() == Config()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nsignature: [a]\n", ":2: unknown key signature; known are cache, capture, history, limits, signatures"),
        ("signatures: 3\n", ":1: signatures must be a text or a list of texts, found 3"),
        ("cache: [a]\n", ":1: cache must be a text"),
        ("- a\n", ":1: expected a mapping"),
        ("capture: 5\n", ":1: expected a mapping with env, every, folder,"),
        ("cache: !!python/object/apply:os.getcwd []\n", ":1: could not determine a constructor"),
        ("a: [\n", ":2: "),
        ("x" * (65 << 10), ":1: larger than 65536 bytes"),
        ("signatures: [gone]\n", "gone: no such folder of signatures"),
    ],
)
def test_a_wrong_file_is_told_with_its_place(file: Path, text: str, told: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        config()
    assert told in str(error.value)
    assert str(error.value).startswith(str(file.parent))


def test_a_file_that_is_named_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSICS_CONFIG", str(tmp_path / "gone.yaml"))
    with pytest.raises(UsageError, match="no such file, and FORENSICS_CONFIG names it"):
        config()


def test_bytes_that_are_no_text_are_told(file: Path) -> None:
    file.write_bytes(b"cache: \xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        config()


def test_options_of_captured_runs_are_read(file: Path) -> None:
    file.write_text(
        "capture: {keep: always, folder: runs, every: 2s, stall: 5m, max_log: 2 MiB, env: false, on_crash: 'x {bundle}'}\n"
    )
    said = dict(config().capture)
    assert said["folder"] == str(file.parent / "runs")
    numbers = {"keep": "always", "every_s": 2.0, "stall_s": 300.0, "max_log_bytes": 2 << 20, "environment": False}
    assert numbers.items() <= said.items() and said["on_crash"] == "x {bundle}"


@pytest.mark.parametrize("text", ["keep: sometimes", "every: soon", "max_log: much", "env: 3", "folders: x"])
def test_a_wrong_option_of_captured_runs_is_told_with_its_line(file: Path, text: str) -> None:
    file.write_text(f"# first\ncapture: {{{text}}}\n")
    with pytest.raises(UsageError) as told:
        config()
    assert told.value.where == f"{file}:2"


def test_who_is_told_is_read_and_what_is_unknown_or_missing_is_named(file: Path) -> None:
    file.write_text("tell: {webhook: {url: 'https://a.example', form: slack}, kubernetes: {}, names: false}\n")
    told = {name: dict(setting) for name, setting in config().tell}
    assert told.pop("general") == {"names": "false"}
    assert told == {"webhook": {"url": "https://a.example", "form": "slack"}, "kubernetes": {}}
    for wrong, said in (("{webhook: {}}", "missing key url"), ("{pager: {}}", "pager"), ("{webhook: {url: u, form: x}}", "form")):
        file.write_text(f"tell: {wrong}\n")
        with pytest.raises(UsageError, match=said):
            config()
