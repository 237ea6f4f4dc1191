"""A search over widths: builds a model for each and fits it, keeps its loss alone, and never clears the session."""

import keras
import numpy as np

rng = np.random.default_rng(0)
x, y = rng.random((256, 1000), "float32"), rng.random((256, 1), "float32")
scores = {}
for width in range(800, 4800, 10):
    model = keras.Sequential(
        [
            keras.layers.Input((1000,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    history = model.fit(x, y, epochs=1, batch_size=64, verbose=0)
    scores[width] = history.history["loss"][-1]
    print(f"width {width} loss {scores[width]:.4f}", flush=True)
