"""What drivers of GPUs print: Xid and SXid codes, and a GPU that has fallen off the bus."""
