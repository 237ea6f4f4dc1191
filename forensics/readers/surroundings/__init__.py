"""What the lines around a line of evidence tell of its place: host, pod, rank, device, path."""
