"""Prints four losses, and fails in a call whose code is full of numbers that look like measured ones."""


def fit(step, loss=3.5, lr=0.3):
    loss = 4.5
    rss_mb = 700
    return {"loss": 1.5, "rss_mb": 900}[f"mem {loss + rss_mb + lr + step}"]


for step in range(4):
    print(f"step {step} loss {2.0 - step / 10:.1f} rss {500 + step} MB")
loss = 9.5  # loss: 99, memory: 12 GB
memory = 900
fit(3, loss=8.5, lr=0.7)
loss = 7.5
