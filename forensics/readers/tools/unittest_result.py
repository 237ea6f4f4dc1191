"""Reads the result of Python's unittest, which Django's runner prints, too: with OK it ends with status 0, whatever the tests
printed.

    Ran 2 tests in 0.013s

    OK                           -> passed
    FAILED (errors=1)            -> None: what failed stands above

The form: Lib/unittest/runner.py, TextTestRunner.run.
"""

from forensics.core import lazy
from forensics.line_formats import parse_prefix
from forensics.model import Region, Trigger
from forensics.readers.base import Record

TRIGGER = Trigger("unittest_result", (" test in ", " tests in "), after=3)
OUTCOMES = ("passed",)
RAN = lazy.regex(r"^Ran \d{1,7} tests? in \d{1,7}(?:\.\d{1,6})?s\s*$")
OK = lazy.regex(r"^OK(?: \([\w =,]{1,100}\))?\s*$")


def read(region: Region) -> Record | None:
    """The result in which no test failed; None for another one."""
    if not RAN.match(parse_prefix(region.text).message):
        return None
    result = next((line for line in region.lines_after() if parse_prefix(line.text).message.strip()), None)
    if result is None or not OK.match(parse_prefix(result.text).message):
        return None
    return Record(TRIGGER.kind, result.number, result.number, "passed", "proof", (result, region.line))
