"""Work that other processes do: many small sources at once, or a large one decoded ahead of the scan."""
