"""One process: errors of the user's own code, its numbers and its data."""

from __future__ import annotations

from collections.abc import Callable

from .case import Files, case
from .stage import Stage


def _job(one: Stage, program: str, script: str | None = None) -> Files:
    """The output of a program of programs/."""
    one.prepare(program)
    return {"train.log": one.run(script or f"python {program}")}


@case("code.shape", ("train.log", "RuntimeError: shape '[32, 1024]' is invalid for input of size"))
def shape_error(stage: Callable[..., Stage]) -> Files:
    """The last batch of an epoch is smaller than a view assumes; the traceback follows a progress bar."""
    return _job(stage(), "shape.py")


@case("code.shape", ("train.log", "mat1 and mat2 shapes cannot be multiplied"))
def matmul_error(stage: Callable[..., Stage]) -> Files:
    """A linear layer gets features of another width."""
    return _job(stage(), "matmul.py")


@case("numerics.nan", ("train.log", "train_loss=nan"))
def nan_loss(stage: Callable[..., Stage]) -> Files:
    """A training diverges through inf to nan and the script raises after five non-finite losses."""
    return _job(stage(), "nan_loss.py", "python nan_loss.py 0.05")


@case("numerics.nan", ("train.log", "returned nan values in its 0th output"))
def nan_anomaly(stage: Callable[..., Stage]) -> Files:
    """Autograd's anomaly detection finds a NaN in a backward pass."""
    return _job(stage(), "anomaly.py")


@case("code.index", ("train.log", "IndexError: Target 10 is out of bounds."))
def label_range(stage: Callable[..., Stage]) -> Files:
    """A label equals the number of classes."""
    return _job(stage(), "label_range.py")


@case("data.corrupt", ("train.log", "PytorchStreamReader failed"))
def truncated_checkpoint(stage: Callable[..., Stage]) -> Files:
    """A training resumes from a checkpoint that was cut short."""
    return _job(stage(), "truncated.py")


@case("code.import", ("train.log", "ModuleNotFoundError: No module named 'einops'"))
def missing_module(stage: Callable[..., Stage]) -> Files:
    """A script imports a package that is not installed."""
    files = {"train.py": "import torch\nfrom einops import rearrange\n\nprint(rearrange(torch.ones(2, 3), 'a b -> b a'))\n"}
    return {"train.log": stage().output_of("python train.py", files=files)}


@case("data.missing", ("train.log", "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.npy'"))
def missing_file(stage: Callable[..., Stage]) -> Files:
    """A script loads a data file that is not there."""
    files = {"train.py": "import numpy as np\n\nprint('loading data/train.npy')\ndata = np.load('data/train.npy')\n"}
    return {"train.log": stage().output_of("python train.py", files=files)}


@case("gpu_driver.unavailable", ("train.log", "Found no NVIDIA driver on your system"))
def no_nvidia_driver(stage: Callable[..., Stage]) -> Files:
    """A script moves its model to a GPU on a node without an NVIDIA driver."""
    files = {"train.py": "import torch\n\nmodel = torch.nn.Linear(10, 10)\nprint(torch.__version__)\nmodel.to('cuda')\n"}
    return {"train.log": stage().output_of("python train.py", files=files)}


@case("code.dtype_device", ("train.log", "must have the same dtype"))
def dtype_mismatch(stage: Callable[..., Stage]) -> Files:
    """A half-precision model gets single-precision inputs."""
    one = stage()
    one.prepare()
    one.write(
        "train.py",
        "import torch\n\nmodel = torch.nn.Linear(10, 10).bfloat16()\nprint('forward')\nmodel(torch.randn(4, 10))\n",
    )
    return {"train.log": one.run("python train.py")}


@case("code.config", ("train.log", "error: argument --batch-size: invalid int value: '32x'"))
def bad_argument(stage: Callable[..., Stage]) -> Files:
    """A command line gives an option a value of another type."""
    one = stage()
    one.prepare()
    text = (
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch-size', type=int)\n"
        "print('reading options')\nparser.parse_args()\n"
    )
    one.write("train.py", text)
    return {"train.log": one.run("python train.py --batch-size 32x")}


@case("code.config", ("train.log", "json.decoder.JSONDecodeError"), accept=("data.corrupt",))
def bad_json_config(stage: Callable[..., Stage]) -> Files:
    """A JSON configuration has a comma too many."""
    one = stage()
    one.prepare()
    one.write("config.json", '{\n  "lr": 0.001,\n  "epochs": 10,\n}\n')
    one.write("train.py", "import json\n\nwith open('config.json') as file:\n    config = json.load(file)\n")
    return {"train.log": one.run("python train.py")}


@case("code.shape", ("train.log", "size mismatch for"))
def checkpoint_mismatch(stage: Callable[..., Stage]) -> Files:
    """A checkpoint of a model with 10 classes is loaded into one with 100."""
    one = stage()
    one.prepare()
    text = (
        "import torch\nfrom torch import nn\n\nold = nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 10))\n"
        "torch.save(old.state_dict(), 'old.pt')\nmodel = nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 100))\n"
        "model.load_state_dict(torch.load('old.pt'))\n"
    )
    one.write("finetune.py", text)
    return {"train.log": one.run("python finetune.py")}


@case("data.download", ("train.log", "Temporary failure in name resolution"), accept=("distributed.network",))
def download_without_network(stage: Callable[..., Stage]) -> Files:
    """A script downloads weights on a node without a way out."""
    one = stage()
    one.prepare()
    one.write(
        "train.py",
        "import torch\n\nstate = torch.hub.load_state_dict_from_url('https://download.example.org/resnet50.pth')\n",
    )
    return {"train.log": one.run("python train.py")}
