"""What Python prints: tracebacks, faulthandler's stacks, the words of exceptions, frames of libraries and of the program."""
