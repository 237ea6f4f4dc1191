"""Ten classes, and a data set whose labels start at 1."""

import torch
from torch import nn

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
labels = torch.randint(1, 10, (4096,))
labels[2900] = 10
for step, (inputs, targets) in enumerate(zip(torch.randn(4096, 64).split(64), labels.split(64), strict=True)):
    loss = criterion(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
