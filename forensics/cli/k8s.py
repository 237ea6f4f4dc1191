"""`forensics k8s POD`: why a Kubernetes pod died, through the user's kubectl."""

from typing import Annotated

import typer

from forensics.cli.common import OF_ONE_QUERY, with_options
from forensics.cli.output import OutputOptions, check_format, finish


@with_options(*OF_ONE_QUERY)
def k8s(
    pod: Annotated[str, typer.Argument(help="A pod, as `kubectl get pods` shows it.")],
    telling: OutputOptions,
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Passed on to kubectl.")] = "",
    context: Annotated[str, typer.Option(help="Passed on to kubectl.")] = "",
) -> None:
    """Say why a pod died: its states, logs, the logs before the last restart, events and its node's conditions.

    \b
    Examples:
      forensics k8s train-0 -n research
      forensics k8s train-0 --context prod -f markdown --redact -o issue.md

    What kubectl may not read is listed under "not known". Exit status: 0 analysed, 2 kubectl shows nothing about the pod;
    with --exit-code 1 for a bad end.
    """
    from forensics.adapters.kubernetes.answer import Kubectl, answer_about_pod

    check_format(telling.form, tracker=telling.tracker)
    found = answer_about_pod(pod, Kubectl(context, namespace))
    finish(found.report, telling, found.sentences)
