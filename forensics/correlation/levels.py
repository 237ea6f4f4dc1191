"""What logs call their levels to five names: `E`, `err`, `ERROR` -> error; `crit`, `F`, `emerg` -> critical."""

LEVELS = ("debug", "info", "warning", "error", "critical")
_WORDS = {
    "debug": ("d", "debug", "trace", "debug1", "debug2", "debug3", "verbose"),
    "info": ("i", "info", "notice", "normal"),
    "warning": ("w", "warn", "warning"),
    "error": ("e", "err", "error"),
    "critical": ("c", "f", "crit", "critical", "fatal", "alert", "emerg", "panic"),
}
_NAMES = {word: name for name, words in _WORDS.items() for word in words}


def level(word: str | None) -> str | None:
    """One of LEVELS; None for a word that is no level."""
    return _NAMES.get(word.lower()) if word else None


def at_least(word: str | None, least: str) -> bool:
    """Is `word`, one of LEVELS or None, as bad as `least`?"""
    return word is not None and LEVELS.index(word) >= LEVELS.index(least)
