"""The memory of a training for one sample of a batch: the tensors that the backward pass needs, counted layer by layer.

    conv 32 x 32 x 16 -> batch norm -> ReLU      the norm needs the conv's output, the ReLU its own: 2 of the 3 are kept

A tensor is stored for the backward pass if the layer that computes it needs its own output (ReLU, softmax, mask of dropout), or
the layer that reads it needs its input (convolution, dense, norm, pooling). The derivatives of the operations decide it, see
derivatives.yaml of PyTorch. During the backward pass the gradients of one layer's input and output exist in addition to the
tensors still stored, so the peak is the largest such sum. Attention stores queries, keys, values and the scores of each head,
whose number is the square of the sequence length (Korthikanti et al. 2022). A fused kernel stores no scores
(scaled_dot_product_attention, FlashAttention: Dao et al. 2022). PyTorch's transformer layers call the fused kernel, which exists
on a CPU only without dropout.
"""

import math
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from forensics.data_files.named_parts import part_rows
from forensics.model import Layer

FLOAT_BYTES = 4  # float32, what frameworks compute with unless a program says otherwise
# What a transformer layer of PyTorch keeps for each token beside dropout's masks, by its width (input, queries, keys and values,
# scaled queries and keys, what attention gave, norms) and by the width of its feed-forward part (ReLU, what dropout made of it).
TOKEN_WIDTHS = 10.0
TOKEN_INNER = 2.0  # the second of the two widths above
SQUARES = 2.0  # of the sequence for each head: the softmax, and what dropout made of it
SQUARES_IN_WORK = 1.0  # beside them while the backward pass goes through: the gradient of what dropout made
OWN_SQUARES = 1.0  # of a program's own attention without dropout: the softmax
OWN_SQUARES_IN_WORK = 2.0  # gradients of the softmax's output and input; on the way forward, scores before and after scaling
SEQUENCE_SHARE = 1.5  # of what hidden layers make on each token: an activation function beside each wide dense layer
SCORES = "attention keeps the scores of each head"
FUSED = "fused attention keeps no scores"
HEAD_WIDTH = 64  # of most transformers, where nothing tells how many heads there are
MASK_SHARE = 0.25  # a truth value takes one byte where a number takes four
# What the libraries' work space and allocators add to what is counted: the middle of what trainings on CPUs needed beyond it.
# PyTorch on a CPU: 0.86 to 1.11 of what is counted is alive at the peak, in ten nets; `Need.heap` says what its heap adds.
# TensorFlow: 1.05 to 1.49, in seven.
WORK_SHARE = {"torch": 1.15, "keras": 1.3}
# Batches that are held beside each other. PyTorch's loader: the one in work, the samples of the next, and those stacked; Keras'
# `fit`: the one in work, NumPy's and TensorFlow's copy of the next.
BATCHES_HELD = {"torch": 3, "keras": 3}
INDEX_SHARE = 2.0  # PyTorch's max pooling keeps the place of each maximum in eight bytes


def _is(kind: str, name: str) -> bool:
    """Does the name of a layer tell that it is of this kind?"""
    return any(row.name == kind and row.regex.search(name) for row in part_rows("kinds of layers"))


class Sample(Struct, frozen=True):
    """The memory for one sample. `kept`: bytes that the forward pass stores for the backward pass. `peak`: the largest number of
    bytes at any moment, including gradients of activations. `input`: bytes of the sample itself. `tensors`: for each layer,
    (bytes of its output for one sample, bytes that it stores for one sample); scores of attention are separate tensors.
    `dropped`: the same for tensors that the forward pass frees at once. `assumed`: which kernel is assumed to compute the
    attention."""

    kept: int
    peak: int
    input: int = 0
    tensors: tuple[tuple[int, int], ...] = ()
    dropped: tuple[tuple[int, int], ...] = ()
    assumed: str = ""


def sample_of(
    layers: Sequence[Layer],
    framework: str = "",
    heads: int = 0,
    weighted_outputs: int = 0,
    gpu: bool = False,
    input_bytes: int = 0,
    fused: bool = False,
) -> Sample:
    """The memory for one sample in float32. `framework`: `torch` or `keras`. `heads`: attention heads, 0 if unknown.
    `weighted_outputs`: number of output values of all layers with parameters, including layers that the summary does not show.
    `gpu`: on a GPU; on a CPU PyTorch's dropout stores its mask as floating-point numbers. `input_bytes`: size of one sample as
    the model reads it. `fused`: the program's own attention calls a fused kernel."""
    mask = 1.0 if framework == "torch" and not gpu else MASK_SHARE
    kept = [0.0] * len(layers)
    made = [0.0 if _is("alias", layer.kind) else float(layer.outputs) for layer in layers]  # an alias is a view of its input
    hidden = hidden_inside(layers, weighted_outputs)
    attending = [_attention(layer, framework, heads, mask, gpu, fused) for layer in layers]
    for i, layer in enumerate(layers):
        inner = _inside(layer, framework, mask) + attending[i].kept + attending[i].scores + hidden.get(i, 0.0)
        after = layers[i + 1].kind if i + 1 < len(layers) else ""
        if framework == "keras" and _is("weighted", layer.kind) and after and not _is("separate", after):
            inner += made[i]  # the layer includes its activation function, whose input is stored in addition to its output
        reader = next((x for x in layers[i + 1 :] if not _is("alias", x.kind)), None)
        own = _is("reads output", layer.kind) or (reader is not None and _is("reads input", reader.kind))
        kept[i] = inner + (made[i] if own and reader is not None else 0.0)
    peak, held = 0.0, 0.0
    for i in range(len(layers)):
        held += kept[i]
        into = made[i - 1] if i else 0.0
        transient = 0.0 if kept[i] >= made[i] else made[i]  # the output that the forward pass frees again
        peak = max(peak, held + max(made[i] + into, transient, attending[i].in_work))
    work = 1.0 if framework == "torch" and not gpu else WORK_SHARE.get(framework, 1.0)
    sizes = [(m, k - a.scores) for m, k, a in zip(made, kept, attending, strict=True)]
    tensors = _in_bytes([*sizes, *((a.square, a.scores) for a in attending)])
    dropped = _in_bytes((a.square, a.dropped) for a in attending)
    given = input_bytes * BATCHES_HELD.get(framework, 1)
    assumed = next((a.assumed for a in attending if a.assumed), "")
    return Sample(round(sum(kept) * FLOAT_BYTES), round(peak * work * FLOAT_BYTES), given, tensors, dropped, assumed)


def _in_bytes(sizes: Iterable[tuple[float, float]]) -> tuple[tuple[int, int], ...]:
    return tuple((round(made * FLOAT_BYTES), round(kept * FLOAT_BYTES)) for made, kept in sizes if made and kept)


def transformer(sequence: int, width: int, layers: int, heads: int, flash: bool, vocabulary: int) -> Sample:
    """The memory for one sequence in float32: for each layer 34 s h bytes in half precision, and 5 a s^2 bytes for the attention
    scores unless `flash` attention is used (Korthikanti et al. 2022, equation 2), and the logits with their gradient."""
    layer = 34 * sequence * width + (0 if flash else 5 * heads * sequence**2)
    logits = 2 * FLOAT_BYTES * sequence * vocabulary
    return Sample(2 * layers * layer, 2 * layers * layer + logits, assumed=FUSED if flash else SCORES)


class Attention(Struct, frozen=True):
    """Numbers of values that a layer's attention needs for one sample. `square`: values of one tensor of scores. `scores`: values
    of all stored tensors of scores. `kept`: other stored values. `in_work`: additional values during the backward pass.
    `dropped`: scores that the forward pass computes and frees, when no later tensor of the layer has their size. `assumed`:
    which kernel is assumed to compute it."""

    square: float = 0.0
    scores: float = 0.0
    kept: float = 0.0
    in_work: float = 0.0
    dropped: float = 0.0
    assumed: str = ""


def _attention(layer: Layer, framework: str, heads: int, mask: float, gpu: bool, fused: bool) -> Attention:
    """The values that the attention of this row needs. `mask`: size of one element of dropout's mask, in floating-point
    numbers."""
    if _is("transformer", layer.kind) and layer.width and layer.parameters:
        tokens = layer.outputs / layer.width
        if framework == "torch" and gpu:
            return Attention(assumed=FUSED)
        # the feed-forward part is freed before the gradients of the scores are computed
        square = _heads(layer.width, heads) * tokens**2
        return Attention(square, (SQUARES + mask) * square, assumed=SCORES)
    if not _is("attention", layer.kind) or not (layer.parameters or layer.width):
        return Attention()
    width = layer.width or max(1.0, math.sqrt(layer.parameters / 4))  # queries, keys, values, output: four square matrices
    square = _heads(width, heads) * (layer.outputs / width) ** 2
    if _is("attention of a framework", layer.kind):
        return Attention(square, (SQUARES + mask) * square, 4 * layer.outputs, SQUARES_IN_WORK * square, assumed=SCORES)
    if fused:
        return Attention(kept=4 * layer.outputs, assumed=FUSED)
    in_work = OWN_SQUARES_IN_WORK * square
    return Attention(square, OWN_SQUARES * square, 4 * layer.outputs, in_work, in_work, SCORES)


def _inside(layer: Layer, framework: str, mask: float) -> float:
    """The number of values that a layer stores in addition to its input, output and attention."""
    if _is("transformer", layer.kind) and layer.width and layer.parameters:
        tokens, inner = layer.outputs / layer.width, max(0.0, layer.parameters - 4 * layer.width**2) / (2 * layer.width)
        return tokens * ((TOKEN_WIDTHS + 2 * mask) * layer.width + (TOKEN_INNER + mask) * inner)
    if _is("recurrent", layer.kind):
        return 4.0 * layer.outputs  # the gates
    if _is("max pooling", layer.kind):
        return INDEX_SHARE * layer.outputs if framework == "torch" else 0.0
    return mask * layer.outputs if _is("dropout", layer.kind) else 0.0


def _heads(width: float, heads: int) -> int:
    return heads or max(1, round(width / HEAD_WIDTH))


def opaque(layer: Layer) -> bool:
    """Does this row contain layers of an unknown kind that the summary does not show?"""
    known = ("reads input", "reads output", "embedding", "transformer", "scaling")
    return bool(layer.parameters and layer.outputs) and not any(_is(kind, layer.kind) for kind in known)


def hidden_inside(layers: Sequence[Layer], weighted_outputs: int) -> dict[int, float]:
    """The index of each opaque row to the number of values stored inside it. The part of `weighted_outputs` that no other row
    accounts for is divided between opaque rows in proportion to their outputs."""
    rows = {i: layer for i, layer in enumerate(layers) if opaque(layer)}
    shown = sum(_weighted(layer) for i, layer in enumerate(layers) if i not in rows)
    whole = sum(layer.outputs for layer in rows.values())
    left = max(0.0, weighted_outputs - shown)
    return {i: left * x.outputs / whole * (SEQUENCE_SHARE if x.width else 1.0) for i, x in rows.items()}


def _weighted(layer: Layer) -> float:
    """The number of output values of the layers with parameters in this row, as torchinfo counts them. PyTorch's attention does
    not call its inner layers, so torchinfo does not count those."""
    if not layer.parameters:
        return 0.0
    if _is("transformer", layer.kind) and layer.width:
        inner = max(0.0, layer.parameters - 4 * layer.width**2) / (2 * layer.width)
        return layer.outputs / layer.width * (3 * layer.width + inner)
    own_attention = _is("attention", layer.kind) and not _is("attention of a framework", layer.kind)
    return layer.outputs * (4.0 if own_attention else 1.0)


def kind_of(text: str) -> str:
    """The framework whose summary has rows of these kinds: torchinfo writes `Conv2d`, Keras `Conv2D`."""
    return "torch" if re.search(r"\b(?:Conv\dd|BatchNorm\dd|MaxPool\dd|Linear|LayerNorm)\b", text) else "keras"
