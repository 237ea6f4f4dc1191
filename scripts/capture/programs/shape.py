"""Trains with a progress bar; the last, smaller batch does not fit a view that assumes the batch size."""

import torch
from torch import nn
from tqdm import tqdm


class Encoder(nn.Module):
    """A classifier over patches."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(48, 64)
        self.head = nn.Linear(16 * 64, 10)

    def forward(self, images):
        """Logits of a batch of images cut into 16 patches."""
        patches = self.patch(images.view(-1, 16, 48))
        return self.head(patches.view(32, 16 * 64))


model = Encoder()
optimizer = torch.optim.Adam(model.parameters())
data = torch.randn(1000, 768).split(32)
for epoch in range(2):
    bar = tqdm(data, desc=f"epoch {epoch}", mininterval=0)
    for batch in bar:
        loss = nn.functional.cross_entropy(model(batch), torch.randint(0, 10, (len(batch),)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=f"{loss.item():.3f}")
