"""What PyTorch, NCCL and torchrun print: CUDA's out of memory, watchdogs, tables of failed ranks, layers of a model."""
