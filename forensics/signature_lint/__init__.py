"""For authors of signatures: faults, ambiguities, texts that can never be shown. Nothing here runs in an analysis."""
