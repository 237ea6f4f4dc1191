"""`python -m forensics.capture run|watch OPTIONS`: a process that loads nothing but what captures need."""

import sys

from forensics.capture.options import Options


def main() -> None:
    """Become what was asked for."""
    what, text = sys.argv[1], sys.argv[2]
    if what == "run":
        if sys.platform != "linux":
            from forensics.capture.plain import main as plain

            plain(Options.from_json(text))
        from forensics.capture.front import main as run

        run(Options.from_json(text))
    from forensics.capture.watcher import main as watch

    watch(text)


main()
