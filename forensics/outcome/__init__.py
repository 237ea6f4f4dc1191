"""The outcome: the lanes of the logs, their attempts, and how the subject's last attempt ended, by the structure of the log.

Only this room decides whether a program continued after an error.
"""

from forensics.outcome.deciding_lines import lines_to_read, rank_lines, reason_lines
from forensics.outcome.last_lines import last_lines
from forensics.outcome.split_lanes import split_lanes
from forensics.readers.lanes.line_classes import line_classes, trouble_test
