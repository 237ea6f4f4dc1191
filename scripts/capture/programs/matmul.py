"""A model whose second layer does not take what the first gives."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(256, 10))
print(model)
print("parameters:", sum(parameter.numel() for parameter in model.parameters()))
batch = torch.randn(64, 784)
logits = model(batch)
