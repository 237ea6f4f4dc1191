# Two and four ranks train over gloo, and end.
for ranks in 2 4; do TORCH_DISTRIBUTED_DEBUG=INFO STEPS=30 torchrun --standalone --nproc_per_node=$ranks ddp.py; done
