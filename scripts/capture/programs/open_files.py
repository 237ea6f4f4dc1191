"""Keeps every sample it reads, each shared through a file descriptor of its own."""

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    """Small samples that are kept as lists of tensors."""

    def __len__(self):
        """Number of samples."""
        return 10_000

    def __getitem__(self, index):
        """One sample: four small tensors."""
        return [torch.randn(8) for _ in range(4)]


if __name__ == "__main__":
    kept = []
    for step, batch in enumerate(DataLoader(Samples(), batch_size=None, num_workers=2)):
        kept.append(batch)
        if step % 10 == 0:
            print(f"collected {step} samples")
