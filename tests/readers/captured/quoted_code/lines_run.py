from fit import fit
def run(call, *more, message):
    return call(*more)
run(
    fit,
    {},
    message="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
)
