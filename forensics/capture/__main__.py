"""`python -m forensics.capture run|watch OPTIONS [COMMAND...]`: a process that loads only what a capture needs."""

import sys

from forensics.capture.become import run_uncaptured, take_back_locale
from forensics.capture.options import Options


def main() -> None:
    """Run the supervisor or the watcher, by the first argument."""
    what, text, *command = sys.argv[1:]
    if what == "run":
        take_back_locale()
        options = Options.from_json(text, command)
        if sys.platform != "linux":
            from forensics.capture.plain import main as plain

            plain(options)
        try:
            from forensics.capture.foreground import main as run
        except Exception as error:  # the job runs even if the capture cannot start
            run_uncaptured(options, f"{type(error).__name__}: {error}")
        run(options)
    from forensics.capture.watcher import main as watch

    watch(text)


if __name__ == "__main__":
    main()
