"""Whose a line is, and its classes: the program, rank or job that wrote it; trouble, progress, a good end."""
