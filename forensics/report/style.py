"""The style of a report: the limits of the reader's terminal or ticket."""

from typing import NamedTuple

PAGE_CHARS = 100  # if stdout is no terminal: wide enough for most log lines, and for a mail or an issue
ISSUE_CHARS = 32_000  # Jira accepts 32,767 characters, GitHub 65,536, GitLab a million
BRIEF_TOKENS = 2000  # chosen by hand: what a reader of an assistant's window gives for one answer
TRACKERS = ("github", "gitlab", "jira")


class Style(NamedTuple):
    """`width`: columns of the text report. `colour`: it goes to a terminal that shows colours and links.
    `max_chars`: the limit of a Markdown report. `every_incident`: incidents after the first are shown in full, too.
    `tokens`: the limit of a brief. `tracker`: the system that an issue is written for."""

    width: int = PAGE_CHARS
    colour: bool = False
    max_chars: int = ISSUE_CHARS
    every_incident: bool = False
    tokens: int = BRIEF_TOKENS
    tracker: str = TRACKERS[0]
