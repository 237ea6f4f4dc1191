"""The version, in a module of its own so that any other may tell it."""

VERSION = "0.1.0"
