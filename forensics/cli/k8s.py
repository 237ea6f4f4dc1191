"""`forensics k8s POD`: why a Kubernetes pod died, through the user's kubectl."""

from typing import Annotated

import typer

from forensics.cli.common import ExitCode, Format, Output, RedactReport, Tokens, Tracker
from forensics.cli.output import OutputOptions, check_format, rendered, write
from forensics.report.style import BRIEF_TOKENS, TRACKERS


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def k8s(
        pod: Annotated[str, typer.Argument(help="A pod, as `kubectl get pods` shows it.")],
        namespace: Annotated[str, typer.Option("--namespace", "-n", help="Passed on to kubectl.")] = "",
        context: Annotated[str, typer.Option(help="Passed on to kubectl.")] = "",
        form: Format = "text",
        output: Output = None,
        exit_code: ExitCode = False,
        redact: RedactReport = None,
        tokens: Tokens = BRIEF_TOKENS,
        tracker: Tracker = TRACKERS[0],
    ) -> None:
        """Say why a pod died: its states, logs, the logs before the last restart, events and its node's conditions.

        \b
        Examples:
          forensics k8s train-0 -n research
          forensics k8s train-0 --context prod -f markdown --redact -o issue.md

        What kubectl may not read is listed under "not known". Exit status: 0 analysed, 2 kubectl shows nothing about the pod;
        with --exit-code 1 for a crash.
        """
        from forensics.adapters.kubernetes.answer import answer_about_pod
        from forensics.adapters.kubernetes.kubectl import Kubectl
        from forensics.report.redaction.door import masked_text

        check_format(form, tracker=tracker)
        found = answer_about_pod(pod, Kubectl(context, namespace))
        text = rendered(found.report, OutputOptions(form, output, exit_code, redact, tokens=tokens, tracker=tracker))
        head = masked_text("".join(f"{line}\n" for line in found.sentences)) if form == "text" and not redact else ""
        write(f"{head}\n{text}" if head else text, output, form, masked=True)
        if exit_code and found.report.verdict == "crash":
            raise typer.Exit(1)
