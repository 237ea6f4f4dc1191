"""Map the level names of all log formats to five: `E`, `err`, `ERROR` -> error; `crit`, `F`, `emerg` -> critical."""

LEVEL_NAMES = ("debug", "info", "warning", "error", "critical")
_WORDS = {
    "debug": ("d", "debug", "trace", "debug1", "debug2", "debug3", "verbose"),
    "info": ("i", "info", "notice", "normal"),
    "warning": ("w", "warn", "warning"),
    "error": ("e", "err", "error"),
    "critical": ("c", "f", "crit", "critical", "fatal", "alert", "emerg", "panic"),
}
_LEVEL_OF_WORD = {word: name for name, words in _WORDS.items() for word in words}


def parse_level(word: str | None) -> str | None:
    """One of LEVEL_NAMES; None for a word that is no level."""
    return _LEVEL_OF_WORD.get(word.lower()) if word else None


def at_least(word: str | None, least: str) -> bool:
    """Is `word`, one of LEVEL_NAMES or None, at least as severe as `least`?"""
    return word is not None and LEVEL_NAMES.index(word) >= LEVEL_NAMES.index(least)
