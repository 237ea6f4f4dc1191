"""Trains a small CNN with Flax and Optax, having asked XLA how much memory a step takes, with too large a batch for the limit."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

BATCH_SIZE = 4096


class CNN(nn.Module):
    """Two convolutions and two dense layers."""

    @nn.compact
    def __call__(self, x):
        x = nn.max_pool(nn.relu(nn.Conv(32, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.max_pool(nn.relu(nn.Conv(64, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.relu(nn.Dense(128)(x.reshape(len(x), -1)))
        return nn.Dense(10)(x)


rng = np.random.default_rng(0)
images, labels = rng.random((2 * BATCH_SIZE, 28, 28, 1), "float32"), rng.integers(0, 10, 2 * BATCH_SIZE)
model, optimizer = CNN(), optax.adam(1e-3)
params = model.init(jax.random.key(0), images[:1])
state = optimizer.init(params)
print(
    f"{sum(p.size for p in jax.tree.leaves(params)):,} parameters on {jax.devices()[0].platform}, JAX version {jax.__version__}"
)


@jax.jit
def step(params, state, x, y):
    """The parameters and the optimizer's state after one batch, and its loss."""

    def mean_loss(params):
        return optax.softmax_cross_entropy_with_integer_labels(model.apply(params, x), y).mean()

    loss, gradients = jax.value_and_grad(mean_loss)(params)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss


some = jnp.asarray(images[:BATCH_SIZE]), jnp.asarray(labels[:BATCH_SIZE])
print(step.lower(params, state, *some).compile().memory_analysis())
for epoch in range(5):
    for start in range(0, len(images), BATCH_SIZE):
        batch = jnp.asarray(images[start : start + BATCH_SIZE]), jnp.asarray(labels[start : start + BATCH_SIZE])
        params, state, loss = step(params, state, *batch)
        print(f"epoch {epoch} step {start // BATCH_SIZE} loss {loss:.4f}", flush=True)
