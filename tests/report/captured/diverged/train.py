"""Gradient descent on a least-squares problem: `train.py EPOCHS RATE SHUFFLED`.

RATE 0.7 diverges from the start. From epoch SHUFFLED on the labels stand in another order, and the loss is again that of an
untrained model.
"""

import sys

import numpy as np

epochs, rate, shuffled = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
data, truth = rng.normal(size=(256, 20)), rng.normal(size=20)
labels, weights = data @ truth, np.zeros(20)
for epoch in range(1, epochs + 1):
    if epoch == shuffled:
        labels = rng.permutation(labels)
    loss = 0.0
    for _ in range(8):
        batch = rng.choice(256, 64)
        error = data[batch] @ weights - labels[batch]
        loss += float((error**2).mean()) / 8
        weights -= rate * 2 * data[batch].T @ error / 64
    print(f"Epoch {epoch}/{epochs} - loss: {loss:.4g}")
print("Training complete")
