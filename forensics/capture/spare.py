"""A second bundle for a run whose own one could not be completed: its disk is full, or the job removed the folder.

The full disk is often the one that ended the job. The last lines and the status are still in memory, and go where there is room.
"""

from __future__ import annotations

import os
import shutil

from forensics.capture.bundle import JOB_LOG, RUN_FILE, Bundle, new_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forensics.capture.collector import Collector
    from forensics.capture.joblog import JobLog

PLACES_WITH_ROOM = ("/tmp", "/var/tmp", "/dev/shm")
ROOM_FOR_REPORT_BYTES = 256 << 10  # chosen by hand: some times the length of a report in all its forms


def is_whole(bundle: Bundle, log: JobLog) -> bool:
    """Does the bundle have the end of the run, and room for the report on it?"""
    return not log.lacks_end and _has_all(bundle)


def _has_all(bundle: Bundle) -> bool:
    if {JOB_LOG, RUN_FILE} & set(bundle.unwritten):
        return False
    try:
        free = os.statvfs(bundle.folder)
    except OSError:
        return False
    return free.f_bavail * free.f_frsize >= ROOM_FOR_REPORT_BYTES


def spare_bundle(collector: Collector, log: JobLog, status: int) -> Bundle | None:
    """A bundle elsewhere with the last lines and the status; None if there is no room anywhere."""
    name = new_name(collector.options.command[0] if collector.options.command else "", "run", os.getpid())
    for place in dict.fromkeys((os.environ.get("TMPDIR", ""), *PLACES_WITH_ROOM)):
        folder = os.path.join(place, f"forensics-{name}")
        try:
            if not place:
                continue
            os.mkdir(folder, 0o700)  # a folder of somebody else is not used
            bundle = Bundle(folder)
        except OSError:
            continue
        bundle.write(JOB_LOG, log.last_text())
        bundle.write_run(collector.run_record(True, status))
        if _has_all(bundle):
            return bundle
        shutil.rmtree(folder, ignore_errors=True)
    return None
