"""Blocks without the terminal colours that separate an exception's name from its message.

    ESC[1;35mIndexError ESC[0m: ESC[35mlist index out of range ESC[0m  ->  ESC[1;35mIndexError: list index out of range ESC[0m

Python 3.13 and IPython colour the last line of a traceback like this, and the scanner searches for `IndexError: `. Other colours
stay, and are removed when a line is shown; so does an escape that the end of a block cuts in two.
"""

from collections.abc import Iterator

from forensics.core import lazy

COLOURED_EXCEPTION_PATTERN = lazy.regex(
    rb"(Error|Exception|Interrupt)(?:\x1b\[[0-9;]{0,12}m){1,4}(:)(?:\x1b\[[0-9;]{0,12}m){0,4}( ?)(?:\x1b\[[0-9;]{0,12}m){0,4}"
)


def rejoin_exceptions(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """`blocks` with exceptions' names and messages side by side; the lines stay the same."""
    for block in blocks:
        coloured = b"\x1b" in block and any(map(block.__contains__, (b"Error\x1b[", b"Exception\x1b[", b"Interrupt\x1b[")))
        yield COLOURED_EXCEPTION_PATTERN.sub(rb"\1\2\3", block) if coloured else block
