"""Containers of lines: Docker, CRI, kmsg, dmesg's JSON, logfmt, JSON records. Records made here in the forms their writers use."""

import json

from forensics.sources.formats.stamps import from_value
from tests.sources.helpers import read_bytes


def docker(text: str, second: int, stream: str = "stderr") -> str:
    return json.dumps({"log": text, "stream": stream, "time": f"2026-08-22T03:00:{second:02d}.5Z"}) + "\n"


def test_docker_joins_the_parts_of_a_long_line_of_each_stream() -> None:
    parts = [
        docker("first\n", 1),
        docker("a" * 16384, 2),
        docker("out\n", 3, "stdout"),
        docker("b\r\n", 4),
        docker("cut in the midd", 5),
    ]
    found = read_bytes("".join(parts).encode())
    assert found.format == "docker json-file"
    assert found.numbered == [
        (1, "2026-08-22T03:00:01.5Z first"),
        (3, "2026-08-22T03:00:03.5Z out"),
        (2, "2026-08-22T03:00:02.5Z " + "a" * 16384 + "b"),
        (5, "2026-08-22T03:00:05.5Z cut in the midd"),
    ]


def test_a_damaged_docker_record_stays_as_it_stands() -> None:
    found = read_bytes((docker("one\n", 1) + '{"log":"cut' + "\n" + docker("two\n", 2)).encode())
    assert found.numbered == [
        (1, "2026-08-22T03:00:01.5Z one"),
        (2, '{"log":"cut'),
        (3, "2026-08-22T03:00:02.5Z two"),
    ]


def test_cri_joins_parts_and_passes_the_rest() -> None:
    text = (
        "2016-10-06T00:17:09.669794202Z stdout F one\n"
        "2016-10-06T00:17:09.669794203Z stderr P first half, \n"
        "2016-10-06T00:17:09.669794204Z stdout F two\n"
        "2016-10-06T00:17:09.669794205Z stderr F second half\n"
        "no record\n"
    )
    found = read_bytes(text.encode())
    assert found.numbered == [
        (1, "2016-10-06T00:17:09.669794202Z stdout F one"),
        (3, "2016-10-06T00:17:09.669794204Z stdout F two"),
        (2, "2016-10-06T00:17:09.669794203Z stderr F first half, second half"),
        (5, "no record"),
    ]


def test_kmsg_records_become_lines_of_dmesg() -> None:
    text = (
        "6,3964,206764307,-;nvidia-nvswitch2: open (major=510)\n"
        " SUBSYSTEM=pci\n DEVICE=+pci:0000:38:00.0\n"
        "4,3965,11686888109,-,caller=T4242;python3 invoked oom-killer: gfp\\x0aCPU: 3\n"
        "3,3970,11686999109,-;Out of memory: Killed process 4242 (python3)\n"
    )
    for data in (text.encode(), text.replace("\n6", "\n\0006").encode()):
        found = read_bytes(data)
        assert found.format == "kmsg"
        assert found.numbered == [
            (1, "<6>[  206.764307] nvidia-nvswitch2: open (major=510)"),
            (4, "<4>[11686.888109][ T4242] python3 invoked oom-killer: gfp"),
            (4, "CPU: 3"),
            (5, "<3>[11686.999109] Out of memory: Killed process 4242 (python3)"),
        ]
        assert [(w.kind, w.line) for w in found.warnings] == [("lost", 5)]
        assert found.warnings[0].message.startswith("4 kernel messages")


def test_dmesg_json_becomes_lines_of_dmesg() -> None:
    text = (
        '{\n   "dmesg": [\n      {\n         "pri": 4,\n         "time":    64.000000,\n         "caller": "T5",\n'
        '         "msg": "example[4]"\n      },{\n         "pri": 6,\n         "time": 11686.888109,\n         "msg": "text"\n      }\n'
        "   ]\n}\n"
    )
    found = read_bytes(text.encode())
    assert found.numbered == [(3, "<4>[   64.000000][    T5] example[4]"), (8, "<6>[11686.888109] text")]


def test_logfmt_messages_are_unescaped() -> None:
    text = (
        'time="2017-02-01T17:58:34.999999999-08:00" level=error msg="line1\\n line2" id=ab3f\n'
        'time="2017-02-01T17:58:35-08:00" level=info msg="say \\"hi\\""\n'
    )
    assert read_bytes(text.encode()).numbered == [
        (1, "2017-02-01T17:58:34.999999999-08:00 ERROR line1"),
        (1, " line2 id=ab3f"),
        (2, '2017-02-01T17:58:35-08:00 INFO say "hi"'),
    ]


RECORDS = [
    ({"pid": 7, "level": 40, "msg": "restarting kernel", "time": "2023-07-29T14:32:52.000Z"}, "2023-07-29T14:32:52.000Z WARNING restarting kernel"),
    ({"textPayload": "Killed", "timestamp": "2026-08-22T03:00:07.1Z", "severity": "ERROR"}, "2026-08-22T03:00:07.1Z ERROR Killed"),
    ({"timestamp": "2026-08-22T03:00:07Z", "jsonPayload": {"message": "Killed"}}, "2026-08-22T03:00:07Z Killed"),
    ({"@timestamp": "2026-08-22T03:00:07Z", "log.level": "warn", "message": "m"}, "2026-08-22T03:00:07Z WARN m"),
    ({"ts": 1755831607.5, "msg": "zap", "level": "info"}, "2025-08-22T03:00:07.500000+00:00 INFO zap"),
    ({"timestamp": 1755831607123, "message": "ms"}, "2025-08-22T03:00:07.123000+00:00 ms"),
    ({"time": "2020-08-23T20:10:27.540Z", "log": {"message": "200 GET"}, "level": "INFO"}, "2020-08-23T20:10:27.540Z INFO 200 GET"),
    ({"t": {"$date": "2026-08-22T03:00:07.123+00:00"}, "s": "W", "c": "CONTROL", "ctx": "main", "msg": "m", "attr": {"error": "e"}},
     '2026-08-22T03:00:07.123+00:00 WARNING m {"error": "e"}'),
    ({"asctime": "2026-08-22 03:00:07,123", "levelname": "ERROR", "message": "m"}, "2026-08-22 03:00:07.123 ERROR m"),
]  # fmt: skip


def test_json_lines_of_many_loggers_become_lines() -> None:
    for record, line in RECORDS:
        found = read_bytes((json.dumps(record) + "\n").encode() * 3)
        assert (found.format, found.numbered) == ("json lines", [(1, line), (2, line), (3, line)])


def test_a_traceback_in_a_record_follows_its_message() -> None:
    record = {
        "time": "2026-08-22T03:00:07Z",
        "level": "ERROR",
        "message": "step failed",
        "exc_info": "Traceback:\n  x\nKeyError: 1",
    }
    assert read_bytes(json.dumps(record).encode()).lines == [
        "2026-08-22T03:00:07Z ERROR step failed",
        "Traceback:",
        "  x",
        "KeyError: 1",
    ]


def test_json_that_is_no_log_stays_as_it_is() -> None:
    for text in ('{"loss": 0.5, "step": 1}\n{"loss": 0.4, "step": 2}', '{"model": "x", "layers": [1, 2]}', "[1, 2]", '{"a": "b"'):
        found = read_bytes(text.encode())
        assert (found.format, "\n".join(found.lines)) == (None, text)


def test_newest_first_lists_are_turned() -> None:
    entries = [
        {"timestamp": f"2026-08-22T03:00:0{s}Z", "severity": "INFO", "textPayload": f"message {s}\\r\\n"} for s in (5, 4, 3, 1)
    ]
    found = read_bytes(json.dumps(entries, indent=2).encode())
    assert found.lines == [f"2026-08-22T03:00:0{s}Z INFO message {s}" for s in (1, 3, 4, 5)]
    assert found.numbers == [20, 15, 10, 5]
    assert [w.kind for w in found.warnings] == ["order"]


def test_a_list_that_is_cut_short_gives_what_it_holds() -> None:
    entries = [{"textPayload": f"message {s}", "timestamp": f"2026-08-22T03:00:0{s}Z"} for s in (1, 2, 3)]
    text = json.dumps(entries, indent=2)
    found = read_bytes(text[: text.index("message 3") + 12].encode())
    assert found.lines == ["2026-08-22T03:00:01Z message 1", "2026-08-22T03:00:02Z message 2", "message 3"]
    assert [w.kind for w in found.warnings] == ["truncated"]


def test_kaggle_chunks_are_joined_to_lines() -> None:
    chunks = [("stdout", 1.5, "one\n"), ("stderr", 2.5, "Kil"), ("stderr", 2.6, "led\n")]
    text = "[" + "\n,".join(json.dumps({"stream_name": n, "time": t, "data": d}) for n, t, d in chunks) + "\n]\n"
    assert read_bytes(text.encode()).numbered == [(1, "one"), (2, "Killed")]


def test_cloudwatch_events_become_lines_with_their_time() -> None:
    text = json.dumps({"events": [{"timestamp": 1755831607123, "message": "Killed", "ingestionTime": 1}]}, indent=4)
    assert read_bytes(text.encode()).numbered == [(5, "2025-08-22T03:00:07.123000+00:00 Killed")]


def test_a_torchelastic_error_file_becomes_its_traceback() -> None:
    stack = 'Traceback (most recent call last):\n  File "train.py", line 3, in main\nRuntimeError: boom\n'
    inner = {"message": "RuntimeError: boom", "extraInfo": {"py_callstack": stack, "timestamp": "1755831607"}}
    found = read_bytes(json.dumps({"message": inner}).encode())
    assert found.format == "torchelastic error file"
    assert found.lines == [
        "2025-08-22T03:00:07.000000+00:00 Traceback (most recent call last):",
        '  File "train.py", line 3, in main',
        "RuntimeError: boom",
    ]


def test_a_collectors_records_have_docker_names_and_no_line_ends() -> None:
    record = {"log": "one", "stream": "stderr", "time": "2026-08-22T03:00:01.5Z", "kubernetes": {"pod_name": "train-0"}}
    lines = [json.dumps(record), json.dumps(record | {"log": "two"})]
    assert [text for _, text in read_bytes("\n".join(lines).encode()).numbered] == [
        "2026-08-22T03:00:01.5Z one",
        "2026-08-22T03:00:01.5Z two",
    ]


def test_fluentd_and_fluent_bit_print_records_in_their_own_ways() -> None:
    tagged = '2026-08-22T03:00:01+00:00\tkube.train\t{"log":"one \\"1\\"","stream":"stderr"}\n'
    printed = '[0] kube.train: [[1787367601.5, {}], {"log"=>"one \\"1\\"", "stream"=>"stderr"}]\n'
    old = '[0] kube.train: [1787367601.5, {"log"=>"one \\"1\\""}]\n'
    for line, stamp in (
        (tagged, "2026-08-22T03:00:01+00:00"),
        (printed, from_value(1787367601.5)),
        (old, from_value(1787367601.5)),
    ):
        found = read_bytes((line * 2).encode())
        assert (found.format, [text for _, text in found.numbered]) == ("fluent", [f'{stamp} one "1"'] * 2)


def test_a_table_of_records_saved_as_csv() -> None:
    head = "Date,Host,Service,Message\n"
    two = '2026-08-22T03:00:02Z,n1,train,"second\n  ""more"""\n'
    one = "2026-08-22T03:00:01Z,n1,train,first\n"
    forward = [(2, "2026-08-22T03:00:01Z first"), (3, "2026-08-22T03:00:02Z second"), (4, '  "more"')]
    assert read_bytes((head + one + two).encode()).numbered == forward
    zero = "2026-08-22T03:00:00Z,n1,train,start\n"
    turned = read_bytes((head + two + one + zero).encode())
    assert [text for _, text in turned.numbered] == ["2026-08-22T03:00:00Z start", *(text for _, text in forward)]
    assert read_bytes(b"epoch,loss\n1,0.5\n2,0.25\n").format != "csv"


def test_a_quote_in_a_table_that_nothing_closes_takes_no_line_away() -> None:
    kept = [f"2026-08-22 03:00:{i:02d},step {i}" for i in range(10)]
    got = read_bytes("\n".join(["@timestamp,@message", '2026-08-22 03:00:00,"torn', *kept]).encode() + b"\n")
    assert got.format == "csv"
    assert [text for _, text in got.numbered] == ['2026-08-22 03:00:00,"torn', *kept]
    assert [number for number, _ in got.numbered] == list(range(2, 13))
