"""What TensorFlow and XLA print: the allocator's report, the plan of a step."""
