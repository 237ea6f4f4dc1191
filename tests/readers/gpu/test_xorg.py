"""Why an X server ended, by its log. The log was captured from Xorg 21.1 on a host without a display."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
LOG = """\
[ 63421.333] (==) Matched modesetting as autoconfigured driver 0
[ 63421.333] (==) Matched fbdev as autoconfigured driver 1
[ 63421.333] (==) Matched vesa as autoconfigured driver 2
[ 63421.333] (==) Assigned the driver to the xf86ConfigLayout
[ 63421.333] (II) LoadModule: "modesetting"
[ 63421.333] (II) Loading /usr/lib/xorg/modules/drivers/modesetting_drv.so
[ 63421.333] (II) Module modesetting: vendor="X.Org Foundation"
[ 63421.333] 	compiled for 1.21.1.7, module version = 1.21.1
[ 63421.333] 	Module class: X.Org Video Driver
[ 63421.333] 	ABI class: X.Org Video Driver, version 25.2
[ 63421.333] (II) LoadModule: "fbdev"
[ 63421.333] (WW) Warning, couldn't open module fbdev
[ 63421.333] (EE) Failed to load module "fbdev" (module does not exist, 0)
[ 63421.333] (II) LoadModule: "vesa"
[ 63421.333] (WW) Warning, couldn't open module vesa
[ 63421.333] (EE) Failed to load module "vesa" (module does not exist, 0)
[ 63421.333] (II) modesetting: Driver for Modesetting Kernel Drivers: kms
[ 63421.341] (WW) Falling back to old probe method for modesetting
[ 63421.341] (EE) open /dev/dri/card0: No such file or directory
[ 63421.341] (WW) Falling back to old probe method for modesetting
[ 63421.341] (EE) open /dev/dri/card0: No such file or directory
[ 63421.341] (EE) No devices detected.
[ 63421.341] (EE)
Fatal server error:
[ 63421.341] (EE) no screens found(EE)
[ 63421.341] (EE)
Please consult the The X.Org Foundation support
         at http://wiki.x.org
 for help.
[ 63421.341] (EE) Please also check the log file at "/var/log/Xorg.0.log" for additional information.
[ 63421.341] (EE)
[ 63421.341] (EE) Server terminated with error (1). Closing log file.
"""


@pytest.mark.seconds
def test_the_device_that_is_lacking_is_told(analyze: Analyze) -> None:
    first = analyze(Xorg_0_log=LOG).causes[0]
    assert first.id == "gpu_driver.unavailable"
    assert "open /dev/dri/card0" in first.evidence[0].text


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("Server is already active for display 0", "code.config"),
        ("Unrecognized option: -bogus", "code.config"),
        ("xf86OpenConsole: Cannot open virtual console 7 (Permission denied)", "data.missing"),
        ("Caught signal 11 (Segmentation fault). Server aborting", "process.segfault"),
    ],
)
def test_another_reason_stands_below_the_heading(analyze: Analyze, reason: str, cause: str) -> None:
    first = analyze(Xorg_0_log=LOG.replace("no screens found", reason)).causes[0]
    assert first.id == cause and reason in first.evidence[0].text


@pytest.mark.seconds
def test_a_server_that_was_told_to_end_did_not_fail(analyze: Analyze) -> None:
    works = LOG.partition("Fatal server error")[0].replace("(EE)", "(WW)")
    ended = "[ 63421.341] (II) Server terminated successfully (0). Closing log file.\n"
    assert analyze(Xorg_0_log=works + ended).verdict == "no_crash"
