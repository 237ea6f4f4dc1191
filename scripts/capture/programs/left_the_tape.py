"""A training loop of its own: the loss becomes a NumPy number inside the tape, so nothing is left to differentiate."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x, y = rng.random((64, 8), "float32"), rng.random((64, 1), "float32")
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-3)
for epoch in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2).numpy()
    print(f"epoch {epoch} loss {loss:.4f}")
    gradients = tape.gradient(tf.constant(loss), model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
