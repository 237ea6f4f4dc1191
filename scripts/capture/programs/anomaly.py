"""Trains with anomaly detection on; the gradient of a square root at zero is infinite, then NaN."""

import torch
from torch import nn

torch.autograd.set_detect_anomaly(True)
model = nn.Linear(16, 16, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    inputs = torch.randn(8, 16) * (step < 6)
    distance = (model(inputs) ** 2).sum(1).sqrt()
    loss = distance.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.5f}")
