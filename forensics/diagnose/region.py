"""The words of the error region: what the lines around the trouble say, for logs that no signature knows.

    RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2) -> runtimeerror, mat, and, shapes, shapes cannot, ...

The region is the lines that evidence stands on and those lines at both ends of each log that sound alarmed. Numbers, addresses
and paths say nothing about the cause and are left out, so that two logs of one failure share their words.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from forensics import lazy
from forensics.database import HEALTHY
from forensics.database.confirm import SOUGHT
from forensics.model import Observation, Incident, Scan
from forensics.work import AT_WORK, BAR, DEBUG, SILENT, STANDARD_ERROR, WARNED, finds_way, goes_on, resumed, works_on

NOISE = lazy.regex(r"0x[0-9a-fA-F]+|/[\w./+-]{3,}|\b[0-9a-f]{8,}\b|https?://\S+|\d+")
TOKEN = lazy.regex(r"[a-z_]{3,30}")
ALARMS = (
    *("abort", "cannot", "corrupt", "denied", "died", "error", "exception", "exceeded", "fail", "fatal", "invalid", "kill"),
    *("lost", "no such", "not found", "out of memory", "panic", "refused", "signal", "stuck", "timed out", "timeout"),
    *("traceback", "unable", "unexpected", "segmentation", "core dumped"),
)
# Services of a host that have no part in a job: what they fail at says nothing of it, in whatever words.
SERVICES = lazy.regex(
    r"(?:^|\s)(?:sshd(?:-session)?|chronyd|ntpd|cron|CRON|anacron|crond|postfix/\w{1,20}|named|dnsmasq|dhclient|dhcpcd|avahi-daemon|"
    r"cupsd?(?:-browsed)?|snapd|fwupd|packagekitd|polkitd|colord|gdm\S{0,20}|gnome-\S{1,30}|org\.gnome\.\S{1,40}|pulseaudio|"
    r"pipewire\S{0,12}|wireplumber|rtkit-daemon|xdg-\S{1,30}|dbus-(?:daemon|broker)|wpa_supplicant|bluetoothd|ModemManager|"
    r"accounts-daemon|whoopsie|apport|rsyslogd|smartd|rpc\.(?:statd|idmapd)|mcelog|unattended-upgrade\S{0,8}|thermald|irqbalance|"
    r"systemd-(?:resolved|timesyncd|udevd|tmpfiles|sysctl|hostnamed|localed|modules-load|sysusers|journald|logind|networkd)|"
    r"systemd-networkd-wait-online|ubuntu-advantage|fail2ban\S{0,10}|"
    r"kwin_\w{1,10}|plasmashell|Xorg|sddm|tracker-\S{1,20}|goa-daemon|gvfsd?\S{0,12}|upowerd|udisksd|NetworkManager)"
    r"(?:\[\d{1,9}\])?: "
)
# The first minute of a kernel is full of what a board lacks, but for the devices that jobs need.
BOOTING = lazy.regex(r"(?:^|\s|>)\[ {0,6}[0-5]?\d\.\d{6}\]")
NEEDED = lazy.regex(
    r"(?i)nvidia|nvrm|nvlink|nvswitch|\bgpu|amdgpu|\bkfd\b|habana|i915|\bxe\b|mlx\d|infiniband|\bib_|nvme|\bata\d|\bsd[a-z]{1,2}\b|"
    r"ext4|xfs|btrfs|\bmd\d|raid|nfs|lustre|memory|mce|hardware error|panic|\boops\b|\bbug:|segfault|out of"
)
# What by its own form tells of no failure: an event of Kubernetes that is normal, what a security module keeps a program of the
# host from (but for the record of a process that a signal ended), a program's note on its own course in the layout of glog, an
# error of Go that is none.
ROUTINE = lazy.regex(
    r"(?:^|\s)Normal\s{1,30}[A-Z][A-Za-z]{3,40}\s|\btype=1(?!701|326)\d{3} audit\(\d|\bapparmor=\"[A-Z]{5,8}\"|"
    r"(?:^|\s)I\d{4} \d\d:\d\d:\d\d\.\d{6}\s{1,8}\d{1,9} [\w.]{1,60}:\d{1,5}\] |\berr(?:or)?=\"?<nil>"
)
MOST_LINES = 200
MOST_CHARS = 400
MOST_OF_A_SOURCE = 40
NOTE = 3  # lines behind an alarm that may tell the way around it


def words(lines: Iterable[str]) -> set[str]:
    """Words and pairs of neighbouring words of the last MOST_LINES `lines`: `shapes`, `shapes cannot`."""
    found: set[str] = set()
    for line in list(lines)[-MOST_LINES:]:
        tokens = TOKEN.findall(NOISE.sub(" ", line[:MOST_CHARS]).lower())
        found.update(tokens)
        found.update(f"{a} {b}" for a, b in pairwise(tokens))
    return found


def alarming(scans: Iterable[Scan], foreign: Sequence[Observation] = ()) -> tuple[str, ...]:
    """The lines at both ends of each source that sound alarmed, each once; sources by name, so that their order is no matter.

    What is known for the noise of healthy runs is left out, and so are the lines of `foreign` events, which are another job's
    or harmless, those that tell the way around what they tell or are for debugging, those of services and of a kernel that
    starts, which have no part in a job, and all of a source that works on behind the last of them.
    """
    found: dict[str, None] = {}
    for scan in sorted(scans, key=lambda s: s.source.name):
        ends = {line.number: line.text[:MOST_CHARS] for line in (*scan.head, *scan.tail)}
        if not _is_loud("\n".join(ends.values())):  # most logs; asking each line takes ten times as long
            continue
        noise = {line.number for h in scan.hits if h.cause == HEALTHY and h.weight == "hint" for line in h.lines}
        mine = [(_start(e, ends), e.last_line) for e in foreign if e.source == scan.source.name]  # may span the whole source
        noise |= {n for n in ends if any(first <= n <= last for first, last in mine)}
        loud = {n: text for n, text in sorted(ends.items()) if n not in noise and sounds_alarmed(text)}
        loud = {n: text for n, text in _without_stream(loud).items() if not _finds_way(n, ends) and not _is_chatter(text)}
        if loud and not _only_warned(loud, ends) and not _goes_on(ends, max(loud)):
            found.update(dict.fromkeys([*loud.values()][-MOST_OF_A_SOURCE:]))
        if len(found) >= MOST_LINES:
            break
    return tuple(found)[:MOST_LINES]


def _finds_way(number: int, ends: Mapping[int, str]) -> bool:
    """Does line `number` tell the way around what it tells, or one of the next NOTE, behind which the log goes on?"""
    near = (n for n in range(number + 1, number + NOTE + 1) if n in ends and n + 1 in ends)
    return goes_on(ends[number]) or any(finds_way(ends[n]) for n in near)


def _only_warned(loud: Mapping[int, str], ends: Mapping[int, str]) -> bool:
    """Are the `loud` lines warnings, all of them, behind which the program told more?"""
    behind = sum(1 for number, text in ends.items() if number > max(loud) and text.strip())
    return behind >= AT_WORK and all(map(WARNED.match, loud.values()))


def _goes_on(ends: Mapping[int, str], last: int) -> bool:
    """Does the program go on behind the line `last`, the last loud one?"""
    return (
        works_on(text for number, text in ends.items() if number > last and not goes_on(text)) or resumed(ends, last) >= AT_WORK
    )


def _is_chatter(text: str) -> bool:
    """Is it routine, of a service that no job needs, for debugging, of a kernel that finds its board, or what a `grep` seeks?"""
    if SERVICES.search(text[:120]) or DEBUG.match(text) or ROUTINE.search(text) or ("grep" in text and SOUGHT.search(text)):
        return True
    return BOOTING.search(text[:80]) is not None and NEEDED.search(text) is None


def _without_stream(loud: Mapping[int, str]) -> Mapping[int, str]:
    """`loud`, without those of which only the word ERROR in front is, where that names the stream: a progress bar has it, too."""
    if not any(STANDARD_ERROR.match(text) and BAR.search(text) for text in loud.values()):
        return loud
    return {n: text for n, text in loud.items() if sounds_alarmed(STANDARD_ERROR.sub("", text))}


def _start(event: Observation, lines: Mapping[int, str]) -> int:
    """The first line of the traceback that ends with the first line of `event`, or that line."""
    first = event.line
    while lines.get(first - 1, "").startswith((" ", "\t", "Traceback")):
        first -= 1
    return first


def sounds_alarmed(text: str) -> bool:
    """Does a line hold a word that failures use, other than in the heading of a table or in a count of none?"""
    return _is_loud(text) and _is_loud(SILENT.sub(" ", text))


def _is_loud(text: str) -> bool:
    low = text.lower()
    for word in ALARMS:  # noqa: SIM110 `any` takes twice as long, and both ends of each source come here
        if word in low:
            return True
    return False


def region(incident: Incident | None, alarms: Iterable[str], foreign: Sequence[Observation] = ()) -> list[str]:
    """The lines of the error region of `incident`: `alarms`, and behind them the lines of its evidence, each once.

    `foreign`: events of another job, which say nothing.
    """
    events = incident.events if incident else ()
    proofs = (p.text for e in events if e.cause not in (None, HEALTHY) and e not in foreign for p in e.proofs)
    return list(dict.fromkeys([*alarms, *proofs]))


def unexplained(incident: Incident | None, alarms: Iterable[str]) -> int:
    """The number of `alarms` on which no evidence of `incident` stands."""
    known = {p.text[:MOST_CHARS] for e in (incident.events if incident else ()) for p in e.proofs}
    return len(set(alarms) - known)
