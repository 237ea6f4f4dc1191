def free():
    return 1


def step(batch):
    if not batch and free() < 1:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    return batch["label"]  # OSError: [Errno 28] No space left on device


def fit(batch, advice="CUDA out of memory. Tried to allocate 2.00 GiB"):
    for number in range(2):
        print(f"step {number} loss 0.5", flush=True)
    return step(batch)
