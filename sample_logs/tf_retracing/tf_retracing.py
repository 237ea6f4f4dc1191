"""A training loop of its own: a new tf.function for each learning rate, all of them kept for a report at the end."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x, y = rng.random((256, 64), "float32"), rng.random((256, 1), "float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu") for _ in range(24)] + [keras.layers.Dense(1)])
model.build((None, 64))
variables = model.trainable_variables


def train(rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
        variable.assign_sub(rate * gradient)
    return loss


steps = []
for number in range(5000):
    step = tf.function(train)
    steps.append(step)
    loss = step(1e-4 / (1 + number))
    if number % 5 == 0:
        print(f"step {number} loss {float(loss):.4f}", flush=True)
