"""A Slurm that answers what a real one, 22.05, answered; benchmarks/slurm_ends.py records it."""

import json
from pathlib import Path

from forensics.adapters.slurm import accounting
from forensics.capture.asked import Answer

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
HOME = "/home/alice/jobs"


class Cluster:
    """Programs of Slurm that answer what they answered; the outputs lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.forgets, self.lines = folder, set[str](), dict[str, str]()
        for job in RECORDED.values():
            self.lines |= {key: text.replace(HOME, str(folder)) for key, text in job["answers"].items()}
            for name, text in job["outputs"].items():
                (folder / name).write_text(text)

    def ask(self, command: list[str]) -> Answer:
        """As `programs.run_program`."""
        if command[0] in self.forgets:
            return Answer("", f"{command[0]} is not installed here")
        text = self.lines.get(" ".join(command), "")
        fault = "" if text or command[0] == "sacct" else "Invalid job id specified"
        head = accounting.FIELD_DELIMITER.join(accounting.SACCT_FIELDS)
        return Answer(text or (head if command[0] == "sacct" else ""), fault)


def number(name: str) -> str:
    """The number of a recorded job."""
    return str(RECORDED[name]["job"])
