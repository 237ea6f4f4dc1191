"""Settings and error-prone patterns ("habits") in programs, notebooks and configuration files that are given with the logs.

    train.py:3     batch_size = 12800                 -> setting batch_size 12800
    train.py:14        losses.append(loss)            -> habit kept_loss
    cell 4         dataset.shuffle(10000)             -> setting shuffle_buffer 10000
    ds_config.json "train_batch_size": 64             -> setting batch_size 64

They are parsed with `ast`; nothing is imported or executed. Files that cannot be parsed are read line by line, only for settings.
"""

from collections.abc import Iterable

from forensics.model import Program, Scan

MAX_PROGRAMS = 50  # chosen by hand: of a folder with the code beside the logs; reading takes milliseconds each


def programs(scans: Iterable[Scan]) -> tuple[Program, ...]:
    """The programs among the sources, at most MAX_PROGRAMS, without those of which nothing is read."""
    coded = [(s.source.name, s.source.code) for s in scans if s.source.code is not None][:MAX_PROGRAMS]
    if not coded:
        return ()
    from forensics.readers.programs.habits import read_program

    found = [read_program(name, code()) for name, code in coded]
    return tuple(p for p in found if p.settings or p.habits or p.frameworks or p.guarded or p.maps)
