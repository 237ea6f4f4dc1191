"""Ask: the command line. One module a command; errors become one line on stderr and exit 2."""

import os
import sys

from forensics.errors import ForensicsError

__all__ = ["main"]


def main() -> None:
    """Run the command line; never ends in a traceback."""
    from forensics.cli.app import build

    try:
        build()(prog_name="forensics")
    except ForensicsError as error:
        print(f"forensics: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader had enough: `forensics ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        print("forensics: interrupted", file=sys.stderr)
        sys.exit(130)
