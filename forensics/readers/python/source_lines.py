"""Lines of source code that are printed with a traceback: they quote a message with names of variables in place of its values."""

from forensics.core import lazy

CODE_LINE_PATTERN = lazy.regex(r"(?:\[[\w ]{1,20}\]:)?\s{2,}(?:raise \w[\w.]{0,80}\(|[fr]{0,2}['\"].{0,400}['\"]\s*[,)]+\s*\Z)")


def is_code_line(text: str) -> bool:
    """Is it a line of code that raises, or a text in it that spans lines?"""
    return CODE_LINE_PATTERN.match(text) is not None
