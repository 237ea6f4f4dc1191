"""What the message of the decisive event itself says: statement, way out, values, log, and whether a file was to be written."""

from collections.abc import Callable

import pytest

from forensics.model import Around, Fields, Proof, Report, Value
from forensics.readers.python.own_words import own_words, whole_message
from forensics.readers.python.said import WHOLE_MESSAGE

RULE = "-" * 74
SLOTS = (
    "node slots",
    RULE,
    "There are not enough slots for the 8",
    "slots that were asked for:",
    "",
    "  ./relax",
    "",
    "Either ask for fewer slots, or make more slots",
    "available for use.",
    RULE,
)
PANIC = ("thread 'main' panicked at src/io.rs:43:47:", "the table has no column 'dice'", "note: run with `RUST_BACKTRACE=1`")
CMAKE = (
    "CMake Error at CMakeLists.txt:7 (message):",
    "  Failed to find the compiler.",
    "",
    "  Please set the CUDA_ROOT",
    "  variable.",
    "Call",
)
MODE = "ValueError: Unknown mode 'fast'. Should be one of ['train', 'test']."
DKMS = ("Building module", "Consult /var/lib/dkms/fast/1.2/build/make.log for more information.", "ERROR: The build failed.")
ROOTS = ("InvalidArgumentError: 2 root error(s) found.", "  (0) Not found: shards/7.tfrecord", "\t [[node read]]")
HDF5 = (
    "OSError: HDF5 error back trace",
    "",
    '  File "H5F.c", line 5, in H5Fopen',
    "    unable to lock file",
    "",
    "End of HDF5 error back trace",
)
SAVE = (
    '  File "fit.py", line 9, in fit',
    "    torch.save(net, path)",
    "FileNotFoundError: [Errno 2] No such file or directory: 'runs/7.pt'",
)
LOAD = (
    '  File "fit.py", line 9, in fit',
    "    torch.load(path)",
    "FileNotFoundError: [Errno 2] No such file or directory: 'runs/7.pt'",
)
HYDRA = ("hydra.errors.E: You must specify 'net', e.g, net=<OPTION>", "Available options:", "\tlarge", "\tsmall")
OTHERS = ("KeyError: 'dice'", "wandb: You can sync this run to the cloud by running wandb sync")


def near(lines: tuple[str, ...], at: int) -> tuple[list[Proof], object]:
    def around(_: Proof) -> Around:
        return lines, at

    return [Proof("logs/job.log", at + 1, lines[at], "a/b", "strong")], around


@pytest.mark.parametrize(
    ("lines", "at", "facts", "wanted"),
    [
        (SLOTS, 2, {}, {"stated": "There are not enough slots for the 8 slots that were asked for:", "asked": "Either ask for fewer slots, or make more slots available for use"}),
        (PANIC, 0, {}, {"stated": "the table has no column 'dice'"}),
        (CMAKE, 0, {}, {"stated": "Failed to find the compiler.", "asked": "Please set the CUDA_ROOT variable"}),
        (HYDRA, 0, {"exc_message": HYDRA[0][16:]}, {"allowed_values": "large, small", "asked": "You must specify 'net', e.g, net=<OPTION>"}),
        (("E: x",), 0, {"exc_message": "Config 'de' not found. Available: ['en', 'fr']"}, {"allowed_values": "['en', 'fr']", "refused_value": "'de'"}),
        (("ValueError: Output is not empty. Use --overwrite",), 0, {}, {"stated": "Output is not empty.", "asked": "Use --overwrite"}),
        (("FATAL: one rank gave up. You may or may not see output of the others",), 0, {}, {"stated": "one rank gave up."}),
        ((MODE,), 0, {"exc_message": MODE[12:]}, {"allowed_values": "['train', 'test']", "refused_value": "'fast'"}),
        (DKMS, 2, {}, {"stated": "The build failed.", "further_log": "/var/lib/dkms/fast/1.2/build/make.log"}),
        (SAVE, 2, {"exc_message": SAVE[2][19:], "path": "runs/7.pt"}, {"written_path": "runs/7.pt"}),
        (LOAD, 2, {"exc_message": LOAD[2][19:], "path": "runs/7.pt"}, {}),
        (OTHERS, 0, {"exc_message": "'dice'"}, {}),
        (("ValueError: bad rows",), 0, {"exc_message": "bad rows. Please report this to the authors."}, {}),
        (("ValueError: bad rows",), 0, {"exc_message": "bad rows; use skip_rows instead"}, {"asked": "use skip_rows instead"}),
        (("ValueError: no",), 0, {"exc_message": "You can't train it there. Set rows=2 first"}, {"asked": "Set rows=2 first"}),
        (("ValueError: no",), 0, {"exc_message": "Please request the support of it: https://h/issues/5. Set rows=2"}, {"asked": "Set rows=2"}),
        (("loss 0.4",), 0, {}, {}),
    ],
)  # fmt: skip
def test_the_message_itself_is_read(lines: tuple[str, ...], at: int, facts: Fields, wanted: dict[str, Value]) -> None:
    proofs, around = near(lines, at)
    found = own_words(facts, proofs, around)  # type: ignore[arg-type]
    assert {name: value for name, value in found.items() if name != WHOLE_MESSAGE} == wanted


@pytest.mark.parametrize(
    ("lines", "message", "whole"),
    [
        (ROOTS, "2 root error(s) found.", "Not found: shards/7.tfrecord"),
        (HDF5, "HDF5 error back trace", "unable to lock file"),
        (PANIC, "src/io.rs:43:47:", "the table has no column 'dice'"),
        (("E: Error in call to:", "ValueError('rows')"), "Error in call to:", "Error in call to: ValueError('rows')"),
        (("E: Error in call to:", "[12:01] next step"), "Error in call to:", None),
        (("E: rows", "more"), "rows", None),
    ],
)
def test_a_message_that_only_announces_the_next_line_is_completed(
    lines: tuple[str, ...], message: str, whole: str | None
) -> None:
    proofs, around = near(lines, 0)
    assert whole_message({"exc_message": message}, proofs, around).get("exc_message") == whole  # type: ignore[arg-type]


def test_a_line_of_code_gives_no_values(analyze: Callable[..., Report]) -> None:
    """The traceback shows the names of variables, where the message has their values."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 7, in <module>',
        "    net = build(name)",
        '  File "/opt/py/lib/python3.10/site-packages/timm/factory.py", line 113, in build',
        "    raise RuntimeError('Unknown model (%s)' % name)",
        "RuntimeError: Unknown model (vit_bse)",
    ]
    first = analyze(job="\n".join(lines)).causes[0]
    assert first.facts["argument"] == "vit_bse"
