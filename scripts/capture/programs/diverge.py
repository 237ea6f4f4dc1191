"""Trains a small network with plain SGD and a learning rate that doubles every 40 steps; stops at the first loss above 1e30."""

import json

import torch
from torch import nn

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 40, gamma=2.0)
for step in range(2000):
    inputs = torch.randn(64, 32)
    loss = nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1e38)
    optimizer.step()
    schedule.step()
    row = {"loss": float(f"{loss.item():.5g}"), "grad_norm": float(f"{norm.item():.4g}"), "step": step}
    print(json.dumps(row).replace('"', "'"))
    if loss.item() > 1e30:
        break
