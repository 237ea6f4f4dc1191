"""The parts of the HTML report: what the template shows, its drawings, its style and its script."""
