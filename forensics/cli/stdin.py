"""`dmesg | forensics stdin`: one report on standard input."""

from typing import TYPE_CHECKING

import typer

from forensics.cli.common import (
    Baseline,
    EveryIncident,
    ExitCode,
    Format,
    Incident,
    Job,
    Last,
    MaxChars,
    Output,
    Pid,
    Plot,
    RedactMap,
    RedactReport,
    Signatures,
    Since,
    Tokens,
    Tracker,
    Until,
    Why,
)
from forensics.cli.output import OutputOptions, check_baseline, parse_filter, report_on_stdin
from forensics.report.style import BRIEF_TOKENS, ISSUE_CHARS, TRACKERS

if TYPE_CHECKING:
    pass


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def stdin(
        form: Format = "text",
        output: Output = None,
        exit_code: ExitCode = False,
        redact: RedactReport = None,
        redact_map: RedactMap = None,
        max_chars: MaxChars = ISSUE_CHARS,
        tokens: Tokens = BRIEF_TOKENS,
        tracker: Tracker = TRACKERS[0],
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
        shown = (plot, why, incident, every_incident, tokens, tracker)
        telling = OutputOptions(form, output, exit_code, redact, redact_map, max_chars, *shown)
        report_on_stdin(telling, check_baseline(baseline), parse_filter(since, until, pid, job, last), signatures or ())
