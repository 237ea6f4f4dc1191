"""What two runs print of themselves is compared: arguments, versions, commit, paths of data and the pace of a step."""

from pathlib import Path

from tests.commandline import forensics


def run(folder: Path, name: str, batch: int, data: str, torch: str, commit: str, pace: str) -> Path:
    steps = "".join(f"epoch {n // 10} step {n * 10} loss {2 - n / 30:.4f} {pace}\n" for n in range(30))
    path = folder / name
    path.write_text(f"Namespace(lr=0.1, batch_size={batch}, data='{data}', epochs=3)\ntorch {torch}, commit {commit}\n{steps}")
    return path


def told(folder: Path, pace: str) -> str:
    good = run(folder, "good.log", 64, "/data/v1", "2.12.0", "3f2a91c", "0.31s/it")
    bad = run(folder, "bad.log", 128, "/data/v2", "2.13.0", "9b1c0de", pace)
    return forensics("compare", str(good), str(bad)).stdout.decode()


def test_what_differs_is_told(tmp_path: Path) -> None:
    text = told(tmp_path, "0.52s/it")
    for name, old, new in (
        ("--batch-size", "64", "128"),
        ("--data", "/data/v1", "/data/v2"),
        ("PyTorch", "2.12.0", "2.13.0"),
        ("commit", "3f2a91c", "9b1c0de"),
        ("seconds a step", "0.31 s", "0.52 s"),
    ):
        assert any(line.split() == f"{name} {old} -> {new}".split() for line in text.replace("different", "").splitlines()), name


def test_a_pace_that_is_nearly_the_same_and_in_another_unit_is_no_difference(tmp_path: Path) -> None:
    assert "seconds a step" not in told(tmp_path, "3.1it/s")
