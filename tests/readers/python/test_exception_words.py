"""The words of an exception's message: they name a cause where no signature does, and never say that something ended."""

import csv
from collections.abc import Callable

import pytest

from benchmarks.producers import MANIFEST, is_learned_from
from forensics import Report
from forensics.database import Database, builtin_folder, read_rows
from forensics.model import Observation, Proof
from forensics.readers import read as read_records
from forensics.readers.python.exception_words import KIND, likeliest, read_exceptions, read_message, stems_of
from forensics.scan import scan
from tests.conftest import text_source

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in main
    join(left, right)
{}
"""


@pytest.fixture
def read(knowledge: Database) -> Callable[[str], list[Observation]]:
    return lambda text: read_records(scan(text_source("log", text), knowledge, lambda _w: None), knowledge)


@pytest.mark.parametrize(
    ("exception", "message", "cause"),
    [
        ("ValueError", "left and right differ in length: both sequences must have the same shape", "code.shape"),
        ("TypeError", "the gate takes float32 tensors, but the dtype of the mask is int64", "code.dtype_device"),
        ("ValueError", "--window must be a positive number", "code.config"),
        ("RuntimeError", "this build was compiled without video support, please install the extra package", "code.import"),
        ("OSError", "the shard directory does not exist: /data/shards", "data.missing"),
        ("RuntimeError", "the arbiter lost its state", "code.exception"),
    ],
)
def test_the_words_of_an_exception_name_its_cause(exception: str, message: str, cause: str) -> None:
    found = read_message(exception, message)
    assert found is not None
    assert (found.cause, bool(found.words)) == (cause, True)


@pytest.mark.parametrize(("exception", "message"), [("KeyError", "shape dtype device"), ("ValueError", "qqq"), ("", "")])
def test_words_are_silent_where_the_class_says_it_or_few_are_known(exception: str, message: str) -> None:
    """Where Python's own class says what is wrong, or where too few words are known."""
    assert read_message(exception, message) is None


def test_a_reading_stands_beside_the_exception(read: Callable[[str], list[Observation]]) -> None:
    """It has the exception's lines and fields, and is marked as a reading, so that the outcome passes it over."""
    exception, reading = read(TRACEBACK.format("ValueError: left and right must have the same shape, got [3, 4] and [3, 5]"))
    assert (exception.kind, exception.cause, exception.reads_another) == ("traceback", "code.exception", False)
    assert (reading.kind, reading.cause, reading.reads_another) == (KIND, "code.shape", True)
    assert [p.line for p in reading.proofs] == [p.line for p in exception.proofs]
    assert {p.signature for p in reading.proofs} == {KIND}
    assert exception.fields.items() <= reading.fields.items()
    assert "shape" in str(reading.fields["telling_words"])


def test_words_are_not_asked_where_a_signature_speaks(read: Callable[[str], list[Observation]]) -> None:
    known = read(TRACEBACK.format("RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)"))
    assert {e.cause for e in known} == {"code.shape"}
    assert KIND not in {e.kind for e in known}


def test_words_are_not_asked_of_a_message_that_a_signature_knows_on_other_lines(knowledge: Database) -> None:
    """Of a message that is told often only the first lines are kept."""
    line = "2023-02-08T14:59:53,553 [INFO ] W-9001-a_1.0-stdout MODEL_LOG - ValueError: The hidden sizes of both must match"
    kept = tuple(Proof("ts.log", n, line, "code.import/made", "strong") for n in (10, 20))
    fields = {"exc_type": "ValueError", "exc_message": "The hidden sizes of both must match"}
    late = (Proof("ts.log", 90, line.replace("553", "999"), "traceback", "strong"),)
    raised = Observation("traceback", "code.exception", "strong", "ts.log", 80, 90, late, fields=fields)
    known = Observation("code.import/made", "code.import", "strong", "ts.log", 10, 90, kept, count=9)
    assert KIND in {o.kind for o in read_exceptions([raised], knowledge)}
    assert KIND not in {o.kind for o in read_exceptions([known, raised], knowledge)}


def test_probabilities_are_of_all_causes() -> None:
    """Two causes of which one has log odds of ln 3 against the other: 3 of 4."""
    weights = {"(always)": (0.0, 0.0), "a": (1.0986123, 0.0)}
    cause, probability = likeliest(["a", "never seen"], ["x", "y"], weights)
    assert (cause, round(probability, 6)) == ("x", 0.75)


def test_stems_keep_the_words_as_they_stand() -> None:
    assert stems_of("a.b.ValueError", "maxSizes == 3D tensors") == {
        "class:ValueError": "", "max": "max", "siz": "Sizes", "==": "==", "3d": "3D", "tensor": "tensors",
    }  # fmt: skip


def test_no_message_that_is_measured_is_learned_from(knowledge: Database) -> None:
    rows = read_rows("exception_messages")
    with MANIFEST.open(encoding="utf-8", newline="") as file:
        drawn = [row["message"] for row in csv.DictReader(file)]
    assert not [line for line in drawn if is_learned_from(line)]
    assert is_learned_from(f"{rows[-1]['exception']}: {rows[-1]['message']}")
    assert {row["cause"] for row in rows} <= set(knowledge.causes)
    assert {row["labelled"] for row in rows} == {"read", "rule"}


def test_the_weights_are_of_the_causes_of_the_table() -> None:
    head = (builtin_folder() / "tables" / "exception_words.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert head.split(",")[1:] == sorted({row["cause"] for row in read_rows("exception_messages")})


RAISED = """step 6 loss 0.14
Traceback (most recent call last):
  File "/run/{file}", line 6, in <module>
    load(7)
  File "/run/{file}", line 4, in load
    {code}
ValueError: {said}
"""


@pytest.mark.parametrize(
    ("said", "file", "cause"),
    [
        ("bad shard 7", "train.py", "code.exception"),
        ("the sampler is exhausted after 8 draws", "train.py", "code.exception"),
        ("learning rate must be positive, got -1", "train.py", "code.config"),
        ("bad shard 7", "lib/python3.11/site-packages/shards/io.py", "code.config"),
    ],
)
def test_a_class_alone_names_no_setting_in_a_sentence_of_the_programs_own(
    said: str, file: str, cause: str, analyze: Callable[..., Report]
) -> None:
    told = analyze(train_log=RAISED.format(file=file, code=f'raise ValueError("{said}")', said=said))
    assert told.causes[0].id == cause
