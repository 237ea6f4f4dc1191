"""`python -m forensics.capture run|watch OPTIONS`: a process that loads only what a capture needs."""

import os
import sys

from forensics.capture.options import Options


def main() -> None:
    """Run the supervisor or the watcher, by the first argument."""
    what, text = sys.argv[1], sys.argv[2]
    if what == "run":
        if sys.platform != "linux":
            from forensics.capture.plain import main as plain

            plain(Options.from_json(text))
        options = Options.from_json(text)
        try:
            from forensics.capture.foreground import main as run
        except Exception as error:  # the job runs even if the capture cannot start
            print(f"forensics: nothing is captured: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os.execvp(options.command[0], options.command)
        run(options)
    from forensics.capture.watcher import main as watch

    watch(text)


if __name__ == "__main__":
    main()
