"""Saves a checkpoint every few steps and never deletes one."""

import logging

import torch
from torch import nn

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 10))
optimizer = torch.optim.Adam(model.parameters())
for step in range(1, 200):
    loss = nn.functional.cross_entropy(model(torch.randn(32, 1024)), torch.randint(0, 10, (32,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        logging.info("step %d loss %.4f", step, loss.item())
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, f"checkpoints/step_{step}.pt")
        logging.info("saved checkpoints/step_%d.pt", step)
