"""What ended: the lanes of the logs, their attempts, and how the subject's last attempt ended, judged by the structure of the
log.

Whether a program continued after an error is decided in this room and nowhere else.
"""

from forensics.outcome.deciding_lines import lines_to_read, rank_lines, reason_lines
from forensics.outcome.line_classes import line_classes, trouble_test
from forensics.outcome.survey import survey_lanes

__all__ = ["line_classes", "lines_to_read", "rank_lines", "reason_lines", "survey_lanes", "trouble_test"]
