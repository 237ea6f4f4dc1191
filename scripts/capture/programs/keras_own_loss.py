"""Fits a classifier with a loss of its own, which takes the logarithm of an output that can be 0."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x, y = rng.normal(size=(2048, 20)).astype("float32"), rng.integers(0, 2, (2048, 1)).astype("float32")


def likelihood_loss(truth, predicted):
    return -tf.reduce_mean(truth * tf.math.log(predicted) + (1 - truth) * tf.math.log(1 - predicted))


model = keras.Sequential(
    [keras.layers.Input((20,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1, activation="hard_sigmoid")]
)
model.compile(keras.optimizers.SGD(0.05, momentum=0.9), likelihood_loss)
model.fit(x, y, batch_size=64, epochs=12, verbose=2)
