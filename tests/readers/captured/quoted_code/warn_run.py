import warnings
from fit import fit
warnings.warn("no label" if fit else "CUDA out of memory. Tried to allocate 2.00 GiB")
fit({})
