"""Pictures that matplotlib draws to a file, in one style; text stays text in .svg, and the same picture is the same file.

matplotlib is imported here only, and only when a picture is asked for.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from forensics.core.errors import UsageError

PICTURE_SUFFIXES = (".png", ".svg", ".pdf")
PICTURE_STYLE: Mapping[Any, Any] = MappingProxyType(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "forensics",
        "font.size": 8,
        "text.parse_math": False,  # a dollar sign in a log is a dollar sign
    }
)


def check_picture_suffix(path: Path) -> None:
    """Raises UsageError unless the suffix of `path` is that of a supported picture format."""
    if path.suffix.lower() not in PICTURE_SUFFIXES:
        raise UsageError("pictures are .png, .svg or .pdf", str(path))


def draw_picture(path: Path, dpi: int, draw: Callable[[Any], Any], style: Mapping[Any, Any] = MappingProxyType({})) -> None:
    """Write the figure that `draw` makes of matplotlib's pyplot to `path`; raises UsageError if it cannot be written. `style`:
    settings of matplotlib beside those of PICTURE_STYLE."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({**PICTURE_STYLE, **style}):
        figure = draw(plt)
        try:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
            figure.savefig(path, dpi=dpi, bbox_inches="tight", metadata=metadata)
        except OSError as error:
            raise UsageError(f"the picture could not be written there ({error.strerror})", str(path)) from error
        finally:
            plt.close(figure)
