"""Decodes and resizes photographs with OpenCV inside a pipeline of tf.data, one after the other, and caches what comes out."""

import cv2
import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
files = [cv2.imencode(".jpg", rng.integers(0, 256, (512, 512, 3), "uint8"))[1].tobytes() for _ in range(16)]


def load(number):
    image = cv2.imdecode(np.frombuffer(files[int(number) % 16], "uint8"), cv2.IMREAD_COLOR)
    return cv2.resize(image, (299, 299)).astype("float32") / 255


dataset = tf.data.Dataset.range(8000)
dataset = dataset.map(lambda number: (tf.ensure_shape(tf.numpy_function(load, [number], tf.float32), (299, 299, 3)), 1))
dataset = dataset.cache().batch(32)
model = keras.Sequential([keras.layers.Conv2D(8, 3, strides=4), keras.layers.GlobalMaxPooling2D(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(dataset, epochs=2, verbose=2)
