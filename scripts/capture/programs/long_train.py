"""Trains a small network for 2,400 steps, printing loss, gradient norm, step time and resident memory at each."""

import time

import psutil
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
process = psutil.Process()
truth = torch.randn(64, 10)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2400):
    begin = time.perf_counter()
    inputs = torch.randn(128, 64)
    loss = nn.functional.cross_entropy(model(inputs), (inputs @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    rss = process.memory_info().rss / 2**20
    print(f"step {step} loss {loss.item():.3f} gnorm {norm:.2f} step_time {time.perf_counter() - begin:.4f}s rss {rss:.0f} MB")
    if step % 400 == 399:
        torch.save(model.state_dict(), "checkpoint.pt")
        print("saved checkpoint.pt")
