"""Shared basics: errors, limits, decoding of bytes to text, lazily compiled regular expressions. Imports no other room."""
