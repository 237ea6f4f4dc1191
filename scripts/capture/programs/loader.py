"""Trains from a DataLoader with workers; each batch travels through /dev/shm."""

import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    """Random images of 3 x 256 x 256."""

    def __len__(self):
        """Number of images."""
        return 4096

    def __getitem__(self, index):
        """One image."""
        return torch.randn(3, 256, 256)


if __name__ == "__main__":
    loader = DataLoader(Images(), batch_size=int(sys.argv[1]), num_workers=2)
    print(f"{len(loader)} batches an epoch")
    for step, batch in enumerate(loader):
        print(f"step {step} mean {batch.mean().item():.5f}")
        if step == 20:
            break
