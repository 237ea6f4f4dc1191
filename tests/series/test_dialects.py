"""Lines in the forms that training programs print, made here with three readings each, to series in plain units."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.readers.numbers.labels import number, tokens
from forensics.series import Series

MIB, GIB = 1 << 20, 1 << 30
OfText = Callable[[str], dict[str, Series]]

LINES = {
    "transformers": (
        "{'loss': 0.83, 'grad_norm': 1.5, 'learning_rate': 1.2e-05, 'epoch': 0.62}",
        {"loss": 0.83, "grad norm": 1.5},
    ),
    "transformers, quoted": (
        "{'loss': '2.31', 'learning_rate': '3e-05', 'epoch': '0.11'}",
        {"loss": 2.31, "learning rate": 3e-5},
    ),
    "tqdm": (" 62%|######  | 840/1352 [05:25<01:13,  4.00it/s, loss=0.5]", {"bar's time per step": 0.25, "loss": 0.5}),
    "tqdm, slow": (" 62%|######  | 840/1352 [05:25<01:13,  4.00s/it, loss=0.5]", {"bar's time per step": 4.0}),
    "keras": (
        "15/15 [=====] - 7s 243ms/step - loss: 1.1497 - accuracy: 0.6212 - val_loss: 0.6793",
        {"loss": 1.1497, "held-out val loss": 0.6793, "bar's time per step": 0.243},
    ),
    "fairseq": (
        "2023-06-20 15:26:27 | INFO | train_inner | epoch 145:    121 / 282 loss=3.139, nll_loss=1.228, ppl=8.81, wps=133152, "
        "num_updates=4100, lr=0.0001, gnorm=1.2, loss_scale=16384, gb_free=10.0",
        {"loss": 3.139, "nll loss": 1.228, "wps": 133152, "grad norm": 1.2, "loss scale": 16384, "free": 10 * GIB},
    ),
    "megatron": (
        "[default7]: iteration    45000/  115311 | elapsed time per iteration (ms): 2275.1 | lm loss: 2.113567E+00 | loss scale: "
        "65536.0 | grad norm: 0.139 | number of nan iterations:   0 | samples per second: 18.451 |",
        {
            "lm loss rank 7": 2.113567,
            "time per step rank 7": 2.2751,
            "loss scale rank 7": 65536.0,
            "grad norm rank 7": 0.139,
            "samples per second rank 7": 18.451,
        },
    ),
    "megatron memory": (
        "[Rank 0] (after 100 iterations) memory (MB) | allocated: 2712.5 | max allocated: 10595.0 | reserved: 12906.0",
        {"allocated rank 0": 2712.5 * MIB, "max allocated rank 0": 10595 * MIB, "reserved rank 0": 12906 * MIB},
    ),
    "mmengine": (
        "2020-07-31 12:40:50,985 - mmdet - INFO - Epoch [1][50/1749]\tlr: 1.978e-03, eta: 2:36:29, time: 1.807, data_time: 0.047, "
        "memory: 5280, s0.loss_cls: 485.9971, loss: 593.0, grad_norm: 38.5",
        {"loss": 593.0, "s0 loss cls": 485.9971, "time per step": 1.807, "data time": 0.047, "memory": 5280 * MIB},
    ),
    "detectron2": (
        "[03/04 12:00:01 d2.utils.events]:  eta: 0:12:30  iter: 19  total_loss: 1.2  loss_cls: 0.3    time: 0.4512  data_time: "
        "0.0123   lr: 1e-05  max_mem: 5012M",
        {"total loss": 1.2, "loss cls": 0.3, "time per step": 0.4512, "max mem": 5012 * MIB},
    ),
    "torchvision": (
        "Epoch: [0]  [  10/1000]  eta: 0:01:00  lr: 0.1  img/s: 120.1  loss: 6.91 (7.01)  time: 0.34  data: 0.012  max mem: 5011",
        {"loss": 6.91, "img s": 120.1, "time per step": 0.34, "data time": 0.012, "max mem": 5011 * MIB},
    ),
    "tensorflow": ("INFO:tensorflow:loss = 0.3123, step = 100 (12.345 sec)", {"loss": 0.3123}),
    "nanogpt": ("iter 100: loss 2.3123, time 120.22ms, mfu 12.34%", {"loss": 2.3123, "time per step": 0.12022}),
    "deepspeed": (
        "[INFO] [timer.py:199:stop] epoch=0/micro_step=10/global_step=10, CurrSamplesPerSec=12.5, MemAllocated=5.5GB",
        {"curr samples per sec": 12.5, "mem allocated": 5.5 * GIB},
    ),
    "deepspeed memory": (
        "[INFO] [utils.py:786:see_memory_usage] MA 5.5 GB         Max_MA 6.0 GB         CA 7.0 GB         Max_CA 7 GB",
        {"see memory usage ma": 5.5 * GIB, "max ma": 6 * GIB, "ca": 7 * GIB},
    ),
    "apex": ("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0", {"loss scale": 32768.0}),
    "psutil": (
        "Iter: 1 = pfullmem(rss=415825920, vms=8240693248, shared=123785216, data=6408441856, uss=419287040)",
        {"pfullmem rss": 415825920, "uss": 419287040},
    ),
    "torch": ("torch.cuda.memory_reserved(1) 608174080", {"torch cuda memory reserved 1": 608174080}),
    "a script's own": ("rank 3 step 100 rss 1,234.5 MB", {"rss rank 3": 1234.5 * MIB}),
    "proc": ("VmRSS:\t 1234567 kB", {"vm rss": 1234567 * 1024}),
    "percent": ("RAM usage: 45.2%", {"ram usage": 45.2}),
    "jax": ("{'bytes_in_use': 1234567890, 'peak_bytes_in_use': 2345678901}", {"in use": 1234567890, "peak in use": 2345678901}),
    "gpu": ("step 3 [GPU 0] memory used: 10.0 GiB / 80.0 GiB", {"memory used gpu 0": 10 * GIB}),
}


@pytest.mark.parametrize("dialect", LINES)
def test_a_dialect_is_read(dialect: str, series_of: OfText) -> None:
    line, wanted = LINES[dialect]
    found = series_of((line + "\n") * 3)
    assert {n: pytest.approx(found[n].values[0]) if n in found else None for n in wanted} == wanted
    assert all(len(found[n].readings) == 3 for n in wanted)


def test_what_is_on_a_gpu_and_what_only_rises() -> None:
    from forensics.readers.numbers.labels import label_meaning

    assert [(m.gpu, m.sense) for text in ("torch.cuda.memory_allocated(0)", "rss", "max mem:", "Free GPU ram:", "CPU memory:")
            if (m := label_meaning(text, "", True))] == [(True, "used"), (False, "used"), (True, "peak"), (True, "free"), (False, "used")]  # fmt: skip


@pytest.mark.parametrize("rate", ["tokens/step 8192", "ms/step=410", "seconds per step 41"])
def test_what_is_counted_per_step_is_no_step(series_of: OfText, rate: str) -> None:
    assert series_of(f"{rate} step 12 loss 2.31\n" * 3)["loss"].steps == [12, 12, 12]


def test_messages_of_failure_are_no_readings(series_of: OfText) -> None:
    line = "CUDA out of memory. Tried to allocate 478.00 MiB (GPU 0; 15.78 GiB total capacity; 13.47 GiB already allocated)\n"
    kernel = "Memory cgroup out of memory: Killed process 1917 (python3) total-vm:912kB, anon-rss:444796kB, shmem-rss:0kB\n"
    assert series_of((line + kernel) * 3) == {}


def test_a_host_called_after_its_gpus_is_no_gpu(series_of: OfText) -> None:
    assert list(series_of("2021-06-02 19:57:54 dev-gpu-03 root[51304] DEBUG loss 2.5\n" * 3)) == ["loss"]


def test_nan_and_infinity_are_numbers() -> None:
    text = "loss: inf, grad_norm=-Infinity, kl nan"
    assert [(t.label, number(text[t.at])) for t in tokens(text)] == [
        ("loss:", math.inf),
        ("grad_norm=", -math.inf),
        ("kl", pytest.approx(math.nan, nan_ok=True)),
    ]


def test_names_and_calls_hold_no_numbers() -> None:
    text = "GPU-0 s0.loss conv2d memory_allocated(1) rss 5"
    assert [text[t.at] for t in tokens(text)] == ["5"]


@pytest.mark.seconds
@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    for token in tokens(text):
        assert isinstance(number(text[token.at]), float) and 0 <= token.at.start < token.at.stop <= len(text)


@given(st.floats(min_value=1e-3, max_value=1e12), st.sampled_from(["KB", "MiB", "GB"]))
def test_sizes_come_back_in_bytes(size: float, unit: str) -> None:
    from forensics.readers.numbers.labels import label_meaning

    text = f"rss {size:.3f} {unit}"
    (token,) = tokens(text)
    found = label_meaning(token.label, token.unit, True)
    assert found is not None
    assert number(text[token.at]) * found.factor == pytest.approx(float(f"{size:.3f}") * 1024 ** (" KMG".index(unit[0])))


def test_a_million_lines_of_one_kind_leave_room_for_another(series_of: OfText) -> None:
    lines = [f"step {i} loss 2.5" + (f"\nrss {100 + i} MB" if i % 500 == 0 else "") for i in range(20000)]
    found = series_of("\n".join(lines) + "\n")
    assert len(found["rss"].readings) == 40
    assert 1000 <= len(found["loss"].readings) <= 5000
    assert found["loss"].readings[-1].line == 20040
