"""Run the user's kubectl, with the context and the namespace that the user gave."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

KUBECTL_TIMEOUT_S = 60.0  # chosen by hand: a server that does not answer in a minute will not; kubectl itself waits for ever
MAX_CONTAINER_LOG_BYTES = 256 << 20  # of one container; kubelet keeps 10 MiB of each unless configured otherwise


class KubectlOutput(NamedTuple):
    """The output of kubectl. `fault`: the error in one line if it failed, else empty."""

    text: str
    fault: str = ""


class Kubectl:
    """`context`, `namespace`: empty for those of the user's configuration."""

    def __init__(self, context: str = "", namespace: str = "", program: str = "kubectl") -> None:
        self.command = [program, *([f"--context={context}"] if context else [])]
        self.namespace = [f"--namespace={namespace}"] if namespace else []

    def ask(self, *words: str, everywhere: bool = False) -> KubectlOutput:
        """The output of `kubectl WORDS...`. `everywhere`: leave out the namespace, for objects that have none."""
        command = [*self.command, *([] if everywhere else self.namespace), *words]
        try:
            # Safe: this call starts kubectl, ends it after the limit, and reaps it.
            done = subprocess.run(command, capture_output=True, timeout=KUBECTL_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            return KubectlOutput("", "kubectl is not installed here")
        except subprocess.TimeoutExpired:
            return KubectlOutput("", f"kubectl did not answer within {KUBECTL_TIMEOUT_S:.0f} s")
        except OSError as error:
            return KubectlOutput("", f"kubectl: {error.strerror or type(error).__name__}")
        return KubectlOutput(done.stdout.decode("utf-8", "replace"), _fault(done.returncode, done.stderr))

    def save(self, target: Path, *words: str) -> str:
        """Write the output to a file, for logs, which are large. Returns the error in one line, empty for none."""
        command = [*self.command, *self.namespace, *words]
        try:
            with target.open("wb") as file:
                # Safe: as in `ask`; kubectl writes to the file itself, so nothing is lost where it is ended.
                done = subprocess.run(
                    command, stdout=file, stderr=subprocess.PIPE, timeout=KUBECTL_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
                )
        except subprocess.TimeoutExpired:
            return f"kubectl did not end within {KUBECTL_TIMEOUT_S:.0f} s; what came until then is read"
        except OSError as error:
            return f"kubectl: {error.strerror or type(error).__name__}"
        return _fault(done.returncode, done.stderr)


def _fault(status: int, stderr: bytes) -> str:
    if not status:
        return ""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else f"exit status {status}"
