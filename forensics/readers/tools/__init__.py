"""What tools of a host print: tables of load, of disks, of GPUs and of ranks."""
