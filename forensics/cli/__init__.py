"""Ask: the command line. One module a command; errors become one line on stderr and a status.

2    wrong usage, or nothing could be read        130  interrupted
3    a fault of this program (with FORENSICS_DEBUG=1 its traceback is shown)
"""

import os
import sys

from forensics.errors import ForensicsError, unexpected

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
    except OSError as error:  # the disk that stdout goes to is full, the terminal is gone
        _leave(f"forensics: {error.strerror or type(error).__name__}", 2)
    except Exception as error:
        _leave(f"forensics: {unexpected(error)}", 3)


def _leave(line: str, status: int) -> None:
    """Exit with one line on stderr; what stdout could not take is not tried again at exit."""
    print(line, file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
