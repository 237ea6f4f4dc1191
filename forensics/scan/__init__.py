"""The scanner: raw blocks of a Source become Hits and Regions, in one pass.

Hyperscan reports where any anchor of any signature or record ends. Only those lines become Python text, and only those signatures
are confirmed on them. Python never reads bytes without an anchor.
"""

from forensics.scan.matcher import Matcher, matcher_of
from forensics.scan.scanner import scan
from forensics.scan.workers import Workers

__all__ = ["Matcher", "Workers", "matcher_of", "scan"]
