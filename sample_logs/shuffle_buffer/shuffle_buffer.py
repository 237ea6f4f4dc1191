"""Reads photographs, makes them small enough for the net, and shuffles ten thousand of them at a time."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
photographs = rng.integers(0, 256, (64, 1024, 1024, 3), "uint8")


def prepare(image):
    return tf.image.resize(tf.image.random_flip_left_right(image), (224, 224), method="bicubic", antialias=True), 1


dataset = tf.data.Dataset.from_tensor_slices(photographs).repeat(1000).map(prepare)
dataset = dataset.shuffle(10000).batch(32).prefetch(1)
model = keras.Sequential([keras.layers.Conv2D(8, 3, strides=4), keras.layers.GlobalMaxPooling2D(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(dataset, epochs=3, steps_per_epoch=300)
