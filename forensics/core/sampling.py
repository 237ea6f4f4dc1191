"""Even samples that follow no period of what is sampled: by the multiples of the golden ratio, which are spread most evenly."""

GOLDEN_RATIO = 0.6180339887  # (sqrt(5) - 1) / 2


def is_sampled(number: int, share: float) -> bool:
    """Is the item `number` in a sample of this share?"""
    return number * GOLDEN_RATIO % 1.0 < share


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the indices below `count`, in order."""
    return sorted({int(i * GOLDEN_RATIO % 1.0 * count) for i in range(most)})
