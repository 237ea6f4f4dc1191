"""The formats: each module of this folder with `render(report, style) -> str` is one, under its own name."""
