"""Colours inside an exception's line, which part the name from the message, taken out while blocks pass.

    ESC[1;35mIndexError ESC[0m: ESC[35mlist index out of range ESC[0m  ->  ESC[1;35mIndexError: list index out of range ESC[0m

Python 3.13 and IPython colour the last line of a traceback so. What is searched for in the bytes is `IndexError: `; colours that
part no such text stay, and are dropped when a line is shown. One that a block's end cuts in two stays as well.
"""

from collections.abc import Iterator

from forensics.core import lazy

PARTED = lazy.regex(rb"(Error|Exception)\x1b\[[0-9;]{0,12}m(: ?)(?:\x1b\[[0-9;]{0,12}m)?")


def rejoined(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """`blocks` with exceptions' names and messages side by side; the lines stay the same."""
    for block in blocks:
        coloured = b"\x1b" in block and (b"Error\x1b[" in block or b"Exception\x1b[" in block)
        yield PARTED.sub(rb"\1\2", block) if coloured else block
