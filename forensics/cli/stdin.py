"""`dmesg | forensics stdin`: one report on standard input, the same as `forensics analyze -`."""

from forensics.cli.common import Baseline, Selection, Signatures, with_options
from forensics.cli.output import OutputOptions, check_baseline, parse_filter, report_on_stdin


@with_options()
def stdin(telling: OutputOptions, chosen: Selection, baseline: Baseline = None, signatures: Signatures = None) -> None:
    """Say why the run died, from the log on standard input; the same as `analyze -`.

    \b
    Examples:
      dmesg -T | forensics stdin
      journalctl -b -1 -k -o short-iso | forensics stdin -f markdown
      kubectl logs --previous POD | forensics stdin -f html -o report.html
      ssh node17 dmesg -T | forensics stdin --redact
    """
    report_on_stdin(telling, check_baseline(baseline), parse_filter(*chosen), signatures or ())
