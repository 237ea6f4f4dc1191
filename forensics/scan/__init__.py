"""The scanner: raw blocks of a Source become Hits and Regions, in one pass.

Hyperscan reports the places where an anchor of a signature or of a detector ends. Only the lines with such a place are decoded,
and only the signatures with that anchor are tested on them.
"""

from forensics.scan.matcher import Matcher, matcher_of
from forensics.scan.scanner import scan
from forensics.scan.workers import Workers
