"""The words of a line, for the models that learn from words: without numbers, addresses and paths, which differ in each log."""

from forensics.core import lazy

WORD_NOISE_PATTERN = lazy.regex(r"0x[0-9a-fA-F]+|/[\w./+-]{3,}|\b[0-9a-f]{8,}\b|https?://\S+|\d+")
SMALL_WORD_PATTERN = lazy.regex(r"[a-z_]{3,30}")
ENDING_NOISE_PATTERN = lazy.regex(
    r"0x[0-9a-fA-F]+|/[\w./+-]{3,}|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|https?://\S+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d"
)
ENDING_TOKEN_PATTERN = lazy.regex(r"[A-Za-z_]{2,30}|\d+(?:\.\d+)?|[✓✗✔✘×❌✅]|[#=>%!?]{1,3}")


def plain_words(text: str) -> list[str]:
    """The words of three letters and more, in small letters."""
    return SMALL_WORD_PATTERN.findall(WORD_NOISE_PATTERN.sub(" ", text).lower())


def words_and_counts(text: str) -> list[str]:
    """The words, signs and numbers of a line; a number counts as 0, 1 or N: `2 errors` -> N, errors."""
    return [_normalised(t) for t in ENDING_TOKEN_PATTERN.findall(ENDING_NOISE_PATTERN.sub(" ", text))]


def _normalised(token: str) -> str:
    if not token[0].isdigit():
        return token.lower()
    return "0" if float(token) == 0 else "1" if token == "1" else "N"
