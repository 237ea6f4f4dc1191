"""Ids of what a line speaks of: process, job, container, GPU, rank, in one form whatever program prints them."""
