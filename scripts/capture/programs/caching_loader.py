"""A data set that keeps every decoded image in the worker's memory."""

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    """Random images of 3 x 512 x 512, cached after their first use."""

    def __init__(self):
        self.cache = {}

    def __len__(self):
        """Number of images."""
        return 4096

    def __getitem__(self, index):
        """One image, shrunk."""
        if index not in self.cache:
            self.cache[index] = torch.randn(3, 512, 512)
        return self.cache[index][:, ::8, ::8]


if __name__ == "__main__":
    for step, batch in enumerate(DataLoader(Images(), batch_size=16, num_workers=1)):
        print(f"step {step} mean {batch.mean().item():.5f}")
