"""Adapters for Jupyter, Slurm, Kubernetes, frameworks, agents: each calls only capture and the public API, no other adapter."""
