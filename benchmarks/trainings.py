"""Small trainings on a CPU, real ones: model, data loader, optimizer, two steps. What memory_limits.py runs.

    python trainings.py torch cnn-64-16-3 adam 32      trains; prints the peak of its resident memory in bytes
    python trainings.py keras tr-128-64-2-4 sgd 0      prints the summary of the model, as torchinfo or Keras do
    python trainings.py torch serve                    reads such trainings from its input, each in a process of its own

A model is a family and its sizes: plain, cnn, res, sep, unet: resolution, width, depth; point: points, width, depth; mlp: inputs,
width, depth; tr, enc, own: sequence, width, layers, heads. `tr` is the framework's own layer, `enc` calls the fused attention, `own`
writes it out (PyTorch). `keras_torch` is Keras with PyTorch behind it.
"""

import importlib
import itertools
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

STEPS, CLASSES, WORDS = 2, 10, 1000
POLL_S = 0.1
TRANSFORMERS = ("tr", "enc", "own")


def train_torch(family: str, sizes: list[int], optimizer: str, batch: int) -> None:
    """PyTorch: nn modules, a DataLoader without workers."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        """A residual block of two convolutions."""

        def __init__(self, into: int, width: int) -> None:
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(into, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
            self.relu, self.short = nn.ReLU(), nn.Conv2d(into, width, 1)

        def forward(self, x: Any) -> Any:
            out = self.relu(self.bn1(self.conv1(x)))
            return self.relu(self.bn2(self.conv2(out)) + self.short(x))

    class Attention(nn.Module):
        """Self-attention as GPT-like programs write it: with PyTorch's fused operation, or with scores and a softmax."""

        def __init__(self, width: int, heads: int, fused: bool) -> None:
            super().__init__()
            self.fused, self.heads, self.qkv, self.proj = fused, heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            b, s, w = x.shape
            q, k, v = self.qkv(x).view(b, s, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
            if self.fused:
                out = functional.scaled_dot_product_attention(q, k, v)
            else:
                out = functional.softmax(q @ k.transpose(-2, -1) * (w // self.heads) ** -0.5, -1) @ v
            return self.proj(out.transpose(1, 2).reshape(b, s, w))

    class Layer(nn.Module):
        """A transformer layer with the norm in front."""

        def __init__(self, width: int, heads: int, fused: bool) -> None:
            super().__init__()
            self.norm1, self.attn, self.norm2 = nn.LayerNorm(width), Attention(width, heads, fused), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

        def forward(self, x: Any) -> Any:
            x = x + self.attn(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class Encoder(nn.Module):
        """Words, layers, the mean over the sequence, classes."""

        def __init__(self, width: int, layers: int, heads: int, kind: str) -> None:
            super().__init__()
            self.embed, self.head = nn.Embedding(WORDS, width), nn.Linear(width, CLASSES)
            known = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
            own_layers = nn.Sequential(*(Layer(width, heads, kind == "enc") for _ in range(layers)))
            self.body = own_layers if kind != "tr" else nn.TransformerEncoder(known, layers, enable_nested_tensor=False)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(self.embed(x)).mean(1))

    class Unet(nn.Module):
        """Down and up again, each level joined with its twin."""

        def __init__(self, width: int, depth: int) -> None:
            super().__init__()
            wide = [width * 2**i for i in range(depth + 1)]
            self.down = nn.ModuleList(Block(a, b) for a, b in zip([3, *wide], wide, strict=False))
            self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in itertools.pairwise(wide))
            self.join = nn.ModuleList(Block(2 * a, a) for a in wide[:-1])
            self.pool, self.head = nn.MaxPool2d(2), nn.Conv2d(width, CLASSES, 1)

        def forward(self, x: Any) -> Any:
            kept = []
            for i, block in enumerate(self.down):
                x = block(x if i == 0 else self.pool(x))
                kept.append(x)
            for i in reversed(range(len(self.up))):
                x = self.join[i](torch.cat([self.up[i](x), kept[i]], 1))
            return self.head(x).mean((2, 3))

    class Points(nn.Module):
        """A perceptron on each of many points, then their maximum."""

        def __init__(self, width: int, depth: int) -> None:
            super().__init__()
            wide = [3, *(width for _ in range(depth))]
            self.each = nn.Sequential(
                *(m for a, b in itertools.pairwise(wide) for m in (nn.Linear(a, b), nn.ReLU(), nn.Dropout(0.2)))
            )
            self.head = nn.Linear(width, CLASSES)

        def forward(self, x: Any) -> Any:
            return self.head(self.each(x).amax(1))

    def build() -> tuple[Any, tuple[int, ...]]:
        if family in TRANSFORMERS:
            sequence, width, layers, heads = sizes
            return Encoder(width, layers, heads, family), (sequence,)
        first, width, depth = sizes
        if family == "mlp":
            hidden = [m for i in range(depth) for m in (nn.Linear(width if i else first, width), nn.ReLU())]
            return nn.Sequential(*hidden, nn.Linear(width, CLASSES)), (first,)
        if family == "point":
            return Points(width, depth), (first, 3)
        if family == "unet":
            return Unet(width, depth), (3, first, first)
        made: list[Any] = []
        for i in range(depth):
            a, b = (width * 2 ** (i - 1) if i else 3), width * 2**i
            made += {
                "plain": lambda a, b: [nn.Conv2d(a, b, 3, padding=1), nn.ReLU()],
                "cnn": lambda a, b: [*norm(a, b, nn), *norm(b, b, nn)],
                "res": lambda a, b: [Block(a, b), Block(b, b)],
                "sep": lambda a, b: [nn.Conv2d(a, a, 3, padding=1, groups=a), *norm(a, b, nn, 1)],
            }[family](a, b)
            made.append(nn.MaxPool2d(2))
        head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width * 2 ** (depth - 1), CLASSES)]
        return nn.Sequential(*made, *head), (3, first, first)

    def norm(a: int, b: int, nn: Any, kernel: int = 3) -> list[Any]:
        return [nn.Conv2d(a, b, kernel, padding=kernel // 2), nn.BatchNorm2d(b), nn.ReLU()]

    net, shape = build()
    words = family in TRANSFORMERS
    if not batch:
        import torchinfo

        print(
            torchinfo.summary(
                net, input_data=torch.randint(0, WORDS, (2, *shape)) if words else torch.randn(2, *shape), verbose=0
            )
        )
        return

    class Data(torch.utils.data.Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return STEPS * batch

        def __getitem__(self, i: int) -> Any:
            return (torch.randint(0, WORDS, shape) if words else torch.randn(shape)), i % CLASSES

    steps = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[optimizer](net.parameters(), lr=1e-3)
    for x, y in torch.utils.data.DataLoader(Data(), batch_size=batch):
        loss = functional.cross_entropy(net(x), y)
        steps.zero_grad()
        loss.backward()
        steps.step()


def train_keras(family: str, sizes: list[int], optimizer: str, batch: int) -> None:
    """Keras: functional models and `fit` on a generator of batches."""
    import keras
    import numpy as np
    from keras import layers

    def conv(x: Any, width: int, kernel: int = 3) -> Any:
        return layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(width, kernel, padding="same")(x)))

    def block(x: Any, width: int) -> Any:
        out = layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same", use_bias=False)(conv(x, width)))
        return layers.ReLU()(layers.Add()([out, layers.Conv2D(width, 1)(x)]))

    def attend(x: Any, width: int, heads: int, own: bool) -> Any:
        y = layers.LayerNormalization()(x) if own else x
        x = layers.Add()([x, layers.MultiHeadAttention(heads, width // heads, dropout=0.0 if own else 0.1)(y, y)])
        x = x if own else layers.LayerNormalization()(x)
        y = layers.Dense(4 * width, activation="gelu" if own else "relu")(layers.LayerNormalization()(x) if own else x)
        x = layers.Add()([x, layers.Dropout(0.1)(layers.Dense(width)(y))])
        return x if own else layers.LayerNormalization()(x)

    def build() -> tuple[Any, tuple[int, ...]]:
        if family in ("tr", "enc"):
            sequence, width, count, heads = sizes
            given = layers.Input((sequence,), dtype="int32")
            x = layers.Embedding(WORDS, width)(given)
            for _ in range(count):
                x = attend(x, width, heads, family == "enc")
            return keras.Model(given, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x))), (sequence,)
        first, width, depth = sizes
        shape: tuple[int, ...] = {"mlp": (first,), "point": (first, 3)}.get(family, (first, first, 3))
        x = given = layers.Input(shape)
        if family in ("mlp", "point"):
            for _ in range(depth):
                x = layers.Dense(width, activation="relu")(x)
                x = layers.Dropout(0.2)(x) if family == "point" else x
            x = layers.GlobalMaxPooling1D()(x) if family == "point" else x
            return keras.Model(given, layers.Dense(CLASSES)(x)), shape
        if family == "unet":
            kept = []
            for i in range(depth + 1):
                x = block(layers.MaxPooling2D()(x) if i else x, width * 2**i)
                kept.append(x)
            for i in reversed(range(depth)):
                up = layers.Conv2DTranspose(width * 2**i, 2, strides=2)(x)
                x = block(layers.Concatenate()([up, kept[i]]), width * 2**i)
            return keras.Model(given, layers.GlobalAveragePooling2D()(layers.Conv2D(CLASSES, 1)(x))), shape
        for i in range(depth):
            wide = width * 2**i
            if family == "plain":
                x = layers.Conv2D(wide, 3, padding="same", activation="relu")(x)
            elif family == "cnn":
                x = conv(conv(x, wide), wide)
            elif family == "res":
                x = block(block(x, wide), wide)
            else:
                x = conv(layers.DepthwiseConv2D(3, padding="same")(x), wide, 1)
            x = layers.MaxPooling2D()(x)
        return keras.Model(given, layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(x))), shape

    net, shape = build()
    if not batch:
        net.summary(line_length=120)
        return
    net.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    numbers = np.random.default_rng(0)

    def batches() -> Any:
        for _ in range(STEPS):
            words = family in ("tr", "enc")
            x = numbers.integers(0, WORDS, (batch, *shape), "int32") if words else numbers.random((batch, *shape), "float32")
            yield x, numbers.integers(0, CLASSES, (batch,), "int32")

    net.fit(batches(), steps_per_epoch=STEPS, epochs=1, verbose=0)


def run(backend: str, name: str, optimizer: str, batch: int) -> None:
    """One training, or the summary of its model where `batch` is 0."""
    kind, *rest = name.split("-")
    (train_torch if backend == "torch" else train_keras)(kind, [int(n) for n in rest], optimizer, batch)


def serve(backend: str) -> None:
    """Imports once, then forks for each line `MODEL OPTIMIZER BATCH BYTES SECONDS`.

    Such a training reads no files, so one that has read BYTES from the disk had no memory left for its libraries' pages: it is ended.
    Tells the child's status (0, -9 killed, -10 read too much, -14 took SECONDS), its peak and the bytes that it read.
    """
    importlib.import_module("torch" if backend == "torch" else "keras")
    print("ready", flush=True)
    for line in sys.stdin:
        name, optimizer, batch, most_read, patience_s = line.split()
        child = os.fork()
        if not child:
            signal.alarm(int(patience_s))
            status = 1
            try:
                run(backend, name, optimizer, int(batch))
                sys.stdout.flush()
                status = 0
            finally:
                os._exit(status)
        read, ended = 0, None
        while ended is None:
            counts = Path(f"/proc/{child}/io").read_text().split()
            read = max(read, int(counts[counts.index("read_bytes:") + 1]))
            if read > int(most_read):
                os.kill(child, signal.SIGUSR1)
            time.sleep(POLL_S)
            pid, status, used = os.wait4(child, os.WNOHANG)
            ended = status if pid else None
        print("ended", os.waitstatus_to_exitcode(ended), used.ru_maxrss * 1024, read, flush=True)


if __name__ == "__main__":
    os.environ |= {"KERAS_BACKEND": "torch" if sys.argv[1] == "keras_torch" else "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if sys.argv[2] == "serve":
        serve(sys.argv[1])
    else:
        run(*sys.argv[1:4], int(sys.argv[4]))  # type: ignore[call-arg]
        print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
