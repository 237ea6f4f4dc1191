"""What this program told of a kernel's death in a server's log is the answer there, and no riddle."""

from collections.abc import Callable

from forensics import Report

TOLD = (
    "[W 2026-11-30 04:12:46.375 ServerApp] The kernel of /home/me/fit.ipynb died: Native code aborted the process (97%). "
    "Process 14040 aborted itself (SIGABRT). Python was running Cell In[2]:6. Cell [2] was running, at line 6: os.abort()\n"
)
BEHIND = (
    "[I 2026-11-30 04:12:46.652 ServerApp] AsyncIOLoopKernelRestarter: restarting kernel (1/5), new random ports\n"
    "[W 2026-11-30 04:12:46.653 ServerApp] kernel 42a27a58-9b52-4721-8233-b14fd88fbd71 restarted\n"
    "[C 2026-11-30 04:13:08.549 ServerApp] received signal 15, stopping\n"
    "[I 2026-11-30 04:13:08.551 ServerApp] Shutting down 1 kernel\n"
)


def test_what_was_told_of_a_death_is_told_again(analyze: Callable[..., Report]) -> None:
    told, untold = analyze(jupyter_log=TOLD + BEHIND), analyze(jupyter_log=BEHIND)
    assert (told.verdict, told.causes[0].id) == ("crash", "process.abort")
    assert any("this program reported" in row.feature for row in told.causes[0].ledger)
    assert "Process 14040 aborted itself (SIGABRT)" in told.causes[0].summary
    assert untold.causes[0].id != "process.abort"


def test_what_was_told_with_little_certainty_decides_nothing(analyze: Callable[..., Report]) -> None:
    unsure = analyze(jupyter_log=TOLD.replace("97%", "41%") + BEHIND)
    assert not any("this program reported" in row.feature for row in unsure.causes[0].ledger)
