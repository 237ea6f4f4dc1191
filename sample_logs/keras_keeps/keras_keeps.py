"""Fits for a hundred epochs; a callback keeps the predictions of every epoch for plots that are drawn at the end."""

import keras
import numpy as np

rng = np.random.default_rng(0)
x, y = rng.random((20_000, 32), "float32"), rng.random((20_000, 128), "float32")
kept = []


class KeepPredictions(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        kept.append(self.model.predict(x, batch_size=4096, verbose=0))


model = keras.Sequential([keras.layers.Input((32,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(128)])
model.compile("adam", "mse")
model.fit(x, y, batch_size=1000, epochs=100, verbose=2, callbacks=[KeepPredictions()])
