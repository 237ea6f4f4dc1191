"""Adapters for Jupyter, Slurm, Kubernetes, frameworks, agents, browsers: each calls only capture and the public API, no other
adapter."""
