"""Fits a small CNN on images of handwriting's size, with a batch that needs more memory than there is."""

import keras
import numpy as np
from keras import layers

BATCH_SIZE = 12800
rng = np.random.default_rng(0)
x, y = rng.random((2 * BATCH_SIZE, 28, 28, 1), "float32"), rng.integers(0, 10, 2 * BATCH_SIZE)
model = keras.Sequential(
    [
        layers.Input((28, 28, 1)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(128, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ]
)
model.summary()
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=BATCH_SIZE, epochs=5)
