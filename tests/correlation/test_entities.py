"""Lines that name one thing in several ways."""

from forensics import correlation
from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Scan
from tests.conftest import text_source

SMI = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   31C    P0              60W / 400W |       4MiB / 81920MiB  |      0%      Default |
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:CB:00.0 Off |                    0 |
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|    1   N/A  N/A      4711      C   python                                      1000MiB |
+-----------------------------------------------------------------------------------------+
step 1 loss 0.5
|    0   N/A  N/A      9999      C   not of the table                             1000MiB |
"""
TABLE = """  time      : 2024-05-01_12:00:00
  host      : node-1
  rank      : 9 (local_rank: 1)
  exitcode  : -15 (pid: 4711)
  error_file: <N/A>
"""


def mappings(text: str, number: int, name: str = "a.log") -> list[tuple[int, dict[str, object]]]:
    """What the region around line `number` tells."""
    rows = text.split("\n")
    before, after = "\n".join(rows[: number - 1]) + "\n", "\n".join(rows[number:])
    region = Region(name, number, rows[number - 1], before.encode() if number > 1 else b"", after.encode(), 1, 60)
    scan = Scan(text_source(name, text), len(text), len(rows), (), {"id_table": (region,)}, (), ())
    fields = ("host", "pid", "rank", "local_rank", "gpu", "pci", "uuid")
    return [
        (t.line, {f: v for f in fields if (v := getattr(t.ids, f)) not in ("", -1) and (f != "pid" or v)})
        for t in correlation.read_id_mappings([scan])
    ]


def test_nvidia_smi_tells_addresses_and_processes_of_its_gpus() -> None:
    assert mappings(SMI, 2) == [
        (6, {"gpu": 0, "pci": "0000:07:00"}),
        (8, {"gpu": 1, "pci": "0000:cb:00"}),
        (12, {"gpu": 1, "pid": 4711}),
    ]


def test_torchelastics_rows_tell_each_ranks_process() -> None:
    assert mappings(TABLE, 3) == [(3, {"host": "node-1", "pid": 4711, "rank": 9, "local_rank": 1})]


def test_nccl_tells_all_of_a_rank() -> None:
    line = "gpu-7:4711:4790 [3] NCCL INFO comm 0x5d0 rank 11 nranks 16 cudaDev 3 nvmlDev 3 busId cb000 commId 0x1 - Init COMPLETE"
    assert mappings(line, 1) == [(1, {"host": "gpu-7", "pid": 4711, "rank": 11, "gpu": 3, "pci": "0000:cb:00"})]
    assert patterns_of("id tables").nccl.search("comm 0x573f9cb382e0 rank 0 nranks 2 cudaDev 0 busId 1e0 - Abort COMPLETE")


def test_a_list_of_gpus_tells_their_uuids() -> None:
    uuid = "5d2c0f6e-1111-2222-3333-0123456789ab"
    assert mappings(f"GPU 3: NVIDIA A100-SXM4-80GB (UUID: GPU-{uuid})", 1) == [(1, {"gpu": 3, "uuid": f"gpu-{uuid}"})]


def test_the_scanner_finds_the_lines_of_id_tables(knowledge) -> None:  # type: ignore[no-untyped-def]
    from forensics.scan import scan

    read = scan(text_source("train.log", "start\n" + SMI + TABLE), knowledge, print)
    assert [t.ids.pid for t in correlation.read_id_mappings([read]) if t.ids.pid] == [4711, 4711]
