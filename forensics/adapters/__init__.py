"""Adapters for Jupyter, Slurm, Kubernetes, frameworks, agents, browsers: each calls only capture, history and the public API,
no other adapter."""
