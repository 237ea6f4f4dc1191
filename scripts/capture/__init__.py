"""Captures sample logs of failures that really happen; see __main__.py."""
