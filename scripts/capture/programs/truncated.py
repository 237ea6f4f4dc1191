"""Resumes from a checkpoint whose copying was cut short."""

import pathlib

import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 10))
path = pathlib.Path("checkpoints/step_4000.pt")
path.parent.mkdir(exist_ok=True)
torch.save({"step": 4000, "model": model.state_dict()}, path)
path.write_bytes(path.read_bytes()[:150_000])
print(f"resuming from {path} ({path.stat().st_size} bytes)")
state = torch.load(path)
model.load_state_dict(state["model"])
