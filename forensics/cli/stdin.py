"""`dmesg | forensics stdin`: one report on standard input."""

from typing import TYPE_CHECKING

import typer

from forensics.cli.common import (
    ISSUE_CHARS,
    STDIN,
    Baseline,
    EveryIncident,
    ExitCode,
    Format,
    Incident,
    Job,
    Last,
    MaxChars,
    Output,
    OutputOptions,
    Pid,
    Plot,
    Redact,
    RedactMap,
    Signatures,
    Since,
    Until,
    Why,
    case_name,
    check_baseline,
    check_format,
    finish,
    open_sources,
    parse_filter,
)

if TYPE_CHECKING:
    from forensics.model import Warning


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def stdin(
        form: Format = "text",
        output: Output = None,
        exit_code: ExitCode = False,
        redact: Redact = False,
        redact_map: RedactMap = None,
        max_chars: MaxChars = ISSUE_CHARS,
        why: Why = False,
        incident: Incident = None,
        every_incident: EveryIncident = False,
        plot: Plot = None,
        baseline: Baseline = None,
        since: Since = None,
        until: Until = None,
        pid: Pid = None,
        job: Job = None,
        last: Last = False,
        signatures: Signatures = None,
    ) -> None:
        """Say why the run died, from the log on standard input.

        \b
        Examples:
          dmesg -T | forensics stdin
          journalctl -b -1 -k -o short-iso | forensics stdin -f markdown
          kubectl logs --previous POD | forensics stdin -f html -o report.html
          ssh node17 dmesg -T | forensics stdin --redact
        """
        from forensics import pipeline

        check_format(form, why)
        good, event_filter = check_baseline(baseline), parse_filter(since, until, pid, job, last)
        noted: list[Warning] = []
        knowledge, sources = pipeline.database(signatures or ()), open_sources([STDIN], noted.append)
        report = pipeline.analyze(sources, case_name([STDIN]), knowledge, noted, baseline=good, event_filter=event_filter)
        telling = OutputOptions(form, output, exit_code, redact, redact_map, max_chars, plot, why, incident, every_incident)
        finish(report, telling)
