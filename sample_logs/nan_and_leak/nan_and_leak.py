"""A regression whose learning rate is far too high, in a loop that keeps every batch: the loss is NaN long before memory ends."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=8.0)
seen = []
for step in range(2000):
    inputs = torch.randn(2048, 256)
    seen.append(inputs)
    loss = (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
