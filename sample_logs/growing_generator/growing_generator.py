"""Feeds Keras from a generator that appends every sample to one list, and yields the list."""

import keras
import numpy as np

rng = np.random.default_rng(0)


def batches():
    images, labels = [], []
    while True:
        images.append(rng.random((128, 128, 3), "float32"))
        labels.append(rng.integers(0, 10))
        if len(images) % 32 == 0:
            yield np.array(images[-32:]), np.array(labels[-32:])


model = keras.Sequential(
    [
        keras.layers.Input((128, 128, 3)),
        keras.layers.Conv2D(8, 3, strides=4),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(batches(), steps_per_epoch=200, epochs=5, verbose=2)
