# Two and four ranks train over gloo with debug output of the launcher and of c10d, and end.
for ranks in 2 4; do TORCH_DISTRIBUTED_DEBUG=DETAIL TORCH_CPP_LOG_LEVEL=INFO STEPS=30 torchrun --standalone --nproc_per_node=$ranks ddp.py; done
