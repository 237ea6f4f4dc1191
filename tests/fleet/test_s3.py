"""Cases in a bucket: a real S3 protocol on loopback, served by moto's own server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the extra fleet")
pytest.importorskip("s3fs", reason="no client of S3 here: pip install s3fs")
pytest.importorskip("moto.server", reason="no server of S3 here: pip install 'moto[server]'")

from tests.commandline import in_text

SAMPLES = Path(__file__).parents[2] / "sample_logs"
CASES = ("missing_module", "shape_error")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """`s3://runs`, with a folder for each of CASES."""
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("ENDPOINT_URL", f"http://{host}:{port}"), ("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "x")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    there = s3fs.S3FileSystem()
    there.mkdir("runs")
    for case in CASES:
        for log in (SAMPLES / case).glob("*.log"):
            there.put(str(log), f"runs/{case}/{log.name}")
    yield "s3://runs"
    server.stop()


def test_cases_in_a_bucket_are_answered(bucket: str, tmp_path: Path) -> None:
    import pyarrow.parquet

    output = tmp_path / "reports.parquet"
    in_text("fleet", bucket, "-o", str(output))
    rows = pyarrow.parquet.read_table(output).to_pylist()
    assert {r["case"].rpartition("/")[2] for r in rows} == set(CASES)
    assert all(not r["failure"] for r in rows)
