"""The formats: each module here with `render(report, style) -> str` is one, under its own name."""
