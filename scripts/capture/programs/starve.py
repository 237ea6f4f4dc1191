"""Trains from a DataLoader whose storage answers slower and slower after the first epoch's worth of reads."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Remote(Dataset):
    """Samples that come from a store with a budget of fast reads; after that every read waits."""

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(0.001 if index < int(sys.argv[1]) else 0.05)
        return torch.randn(256)


model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))
optimizer = torch.optim.AdamW(model.parameters())
loader = iter(DataLoader(Remote(), batch_size=16, num_workers=1, prefetch_factor=2))
for step in range(int(sys.argv[2])):
    begin = time.perf_counter()
    batch = next(loader)
    data_time = time.perf_counter() - begin
    loss = nn.functional.mse_loss(model(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    stamp, took = time.strftime("%Y-%m-%d %H:%M:%S"), time.perf_counter() - begin
    print(f"{stamp} - train - INFO - step: {step}, time: {took:.4f}, data_time: {data_time:.4f}, loss: {loss.item():.4f}")
