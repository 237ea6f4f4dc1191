"""Long files that are many logs in one to their sections, each a blob or a Source of its own."""
