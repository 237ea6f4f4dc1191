"""The names that a hook's command may have in braces: `--exec` of watch, `--on-crash` of run.

mail -s "{cause}" me < {report}    -> mail -s "'host_memory.oom_cgroup'" me < /home/me/.../watched/...-died.txt
notify {bundel}                    -> forensics watch --exec has {bundel}, which stands for nothing; names are {cause}, {report}
"""

import re
import shlex
from collections.abc import Iterable, Mapping

BRACED_NAME_PATTERN = re.compile(r"(?<![$\w])\{([a-z_]{1,30})\}")


def filled(command: str, values: Mapping[str, str]) -> str:
    """The command with each name replaced by its value, as one word of the shell; unknown names stay as they are."""
    return BRACED_NAME_PATTERN.sub(lambda m: shlex.quote(values[m[1]]) if m[1] in values else m[0], command)


def warn_of_names(where: str, command: str, known: Iterable[str]) -> None:
    """Say on stderr which names of `command` stand for nothing. A shell and awk have braces of their own, so it is no error."""
    from forensics.cli.output import say

    if wrong := unknown_names(where, command, known):
        say(f"forensics {wrong}")


def unknown_names(where: str, command: str, known: Iterable[str]) -> str:
    """What is wrong with the names in `command`; empty if each is known. `where`: the command and its option."""
    known = sorted(known)
    strange = [name for name in dict.fromkeys(BRACED_NAME_PATTERN.findall(command)) if name not in known]
    if not strange:
        return ""
    stands = "stands" if len(strange) == 1 else "stand"
    names = ", ".join(f"{{{name}}}" for name in strange)
    return f"{where} has {names}, which {stands} for nothing; names are {', '.join(f'{{{name}}}' for name in known)}"
