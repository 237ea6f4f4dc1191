"""What the cases of a folder are: sub-folders and the logs beside them, else the files of each run."""

from pathlib import Path

from forensics.pipeline import names_of_cases


def made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("step 1 loss 2.3\n")
    return folder


def test_logs_beside_sub_folders_are_cases_too(tmp_path: Path) -> None:
    made(tmp_path, "job_13/slurm-13.out", "run_1.log", "run_2.out", "run_2.err", "labels.jsonl", "README.md", "table.csv")
    assert names_of_cases(tmp_path) == [["job_13"], ["run_1.log"], ["run_2.err", "run_2.out"]]


def test_without_sub_folders_each_file_that_may_be_a_log_is_one(tmp_path: Path) -> None:
    assert names_of_cases(made(tmp_path, "a.txt", "b.log", "README.md")) == [["a.txt"], ["b.log"]]
