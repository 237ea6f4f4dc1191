"""Fits a CNN step by step in Python, for easier debugging: no graph plans what may share memory."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x, y = rng.random((512, 96, 96, 3), "float32"), rng.integers(0, 10, 512)
inputs = features = layers.Input((96, 96, 3))
for _ in range(8):
    features = layers.Activation("relu")(layers.BatchNormalization()(layers.Conv2D(32, 3, padding="same")(features)))
model = keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling2D()(features)))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
model.fit(x, y, batch_size=64, epochs=3, verbose=2)
