"""What ended: lanes, their attempts, and how the last one of the subject ended, by the structure of the log, whatever the words.

This room alone asks whether a program went on behind its trouble.
"""

from forensics.outcome.deciding_lines import deciding_lines
from forensics.outcome.line_classes import line_classes, trouble_test
from forensics.outcome.survey import survey_lanes

__all__ = ["deciding_lines", "line_classes", "survey_lanes", "trouble_test"]
