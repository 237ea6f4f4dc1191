"""The command line: one module per command. An error becomes one line on stderr and an exit status.

2    wrong usage, or nothing could be read        130  interrupted
3    a bug in this program (FORENSICS_DEBUG=1 shows the traceback)
"""

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from types import SimpleNamespace
from typing import Any

from forensics.core.later import import_later

if "msgspec" not in sys.modules:  # nobody had need of more before us
    # Not loaded before it is used: 15 of 200 ms, and 12 more of what msgspec loads. What that takes of typing_extensions, typing
    # has just as well, and `uuid`, which it loads, asks `platform` for the name of the system alone.
    for _name in ("ast", "base64", "difflib", "ipaddress", "json", "mmap", "msgspec.inspect", "textwrap"):
        import_later(_name)
    for _name in ("subprocess", "tokenize"):  # what the library of command lines loads
        import_later(_name)
    import_later("msgspec._json_schema", "schema", "schema_components")
    given: dict[str, Any] = {"typing_extensions": None, "platform": SimpleNamespace(system=lambda: os.uname().sysname)}
    given = {name: stand_in for name, stand_in in given.items() if name not in sys.modules}
    sys.modules.update(given)
    try:
        import msgspec
    finally:
        for _name in given:
            del sys.modules[_name]
    import_later("platform")

from forensics.core.errors import ForensicsError, missing_module, unexpected

YOUNG = 500_000  # objects made before cycles are looked for; a run makes hardly any, and the default of 700 costs a tenth


def command() -> None:
    """Run the command line, and end the process without freeing its objects one by one: that takes a twentieth of a short run."""
    from forensics.cli import kept_modules

    kept_modules.use()
    try:
        main()
    except SystemExit as end:
        status = 0 if end.code is None else end.code
        if not isinstance(status, int) or threading.active_count() > 1:
            raise
        atexit._run_exitfuncs()  # files that are kept for the next run are written by these
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            raise end from None  # the interpreter tells of it
        os._exit(status)


def main() -> None:
    """Run the command line; it never ends with a traceback."""
    if sys.argv[1:3] == ["slurm", "epilog"]:  # a batch system waits for it, and any status but 0 takes its node away
        from forensics.adapters.slurm import epilog

        sys.exit(epilog.main(sys.argv[3:]))
    for name in ("stdout", "stderr"):  # closed by who started us: a file opened next would take its place and get our words
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    from forensics.report.redaction.lines import masked_stream

    sys.stdout, sys.stderr = masked_stream(sys.stdout), masked_stream(sys.stderr)  # whatever a command prints
    gc.set_threshold(YOUNG)
    atexit.register(gc.freeze)  # all ends now: to look for cycles once more takes 13 of 400 ms
    try:
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as of a shell's job in the background
            signal.signal(signal.SIGINT, _interrupted)
        _run(sys.argv[1:])
    except ForensicsError as error:
        print(f"forensics: {error}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        own = (error.name or "").startswith("forensics.")
        _leave(f"forensics: {missing_module(str(error.name)) if own else unexpected(error)}", 2 if own else 3)
    except BrokenPipeError:  # the reader had enough: `forensics ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, _InterruptedError) as stop:
        read = " and ".join(reversed(getattr(stop, "__notes__", [])))  # by those who read, the innermost first
        _leave(f"forensics: interrupted; {f'read until then: {read}; ' if read else ''}nothing was written", 130)
    except OSError as error:  # the disk that stdout goes to is full, the terminal is gone
        _leave(f"forensics: {error.strerror or type(error).__name__}", 2)
    except Exception as error:
        _leave(f"forensics: {unexpected(error)}", 3)


def _run(arguments: list[str]) -> None:
    """The command, with the patterns that earlier runs compiled."""
    from forensics.cli import progress
    from forensics.core import long_work
    from forensics.data_files.kept_patterns import keep_patterns, read_patterns

    long_work.use(progress.told)
    read_patterns()
    atexit.register(keep_patterns)
    if arguments == ["stdin"]:  # as it is used most: without options there is nothing to parse
        from forensics.cli.output import OutputOptions, report_on_stdin

        report_on_stdin(OutputOptions("text"))
        sys.exit(0)
    from forensics.cli.app import build, with_command

    arguments = with_command(arguments)
    build(*arguments[:1])(arguments, prog_name="forensics")


def _leave(line: str, status: int) -> None:
    """Exit with one line on stderr. Output that stdout refused is not written again at exit."""
    print(line, file=sys.stderr)
    with contextlib.suppress(OSError):  # a stdout without a file, in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


class _InterruptedError(BaseException):
    """Ctrl-C, instead of KeyboardInterrupt, for which the command-line library prints no message."""


def _interrupted(_number: int, _frame: object) -> None:
    raise _InterruptedError
