"""Checks that only the built-in database needs, besides those of `forensics signatures check`: `python -m scripts.lint`."""
