"""Work in other processes: many small sources in parallel, or a large one that is decoded ahead of the scan."""
