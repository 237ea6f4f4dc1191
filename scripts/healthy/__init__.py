"""Healthy runs of a machine that trains, captured for tests/hostile/healthy/: nothing in them may be called a crash."""
