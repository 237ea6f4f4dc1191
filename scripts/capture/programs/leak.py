"""Trains a small model and keeps every step's graph alive by summing losses instead of their values."""

import time

import psutil
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
process, history, total = psutil.Process(), [], torch.zeros(())
for step in range(5000):
    inputs, targets = torch.randn(256, 512), torch.randint(0, 10, (256,))
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
    total = total + loss
    history.append(loss)
    if step % 5 == 0:
        rss = process.memory_info().rss / 2**20
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        print(f"{stamp} step {step} loss {loss.item():.4f} mean {total.item() / (step + 1):.4f} rss {rss:.0f} MiB")
    time.sleep(0.05)
