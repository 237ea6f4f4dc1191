"""What the runtimes of other languages than Python print when a program ends."""
