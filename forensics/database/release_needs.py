"""Which releases of two packages belong together, from tables/release_needs.csv, and the remedy where two do not.

    installed   torch 2.4.0, torchvision 0.17.1        the table: torchvision >=0.17,<0.18 needs torch >=2.2,<2.3
    ->  Install torch>=2.2,<2.3 beside torchvision 0.17.1, or the torchvision that was made for torch 2.4.0

A row is told only where the message or the end of the traceback names one of the two: other failures have other reasons.
"""

import functools
from collections.abc import Collection, Mapping

from msgspec import Struct

from forensics.core import lazy
from forensics.database.entries import Remedy
from forensics.database.tables import read_rows

NUMBER_PATTERN = lazy.regex(r"\d+")
COMPARISONS = (">=", "<=", "==", "<", ">")  # those of two signs first
MAX_NUMBERS = 4  # of a release: 3.20.1.0


class ReleaseNeed(Struct, frozen=True):
    """A row: the `package` of these `releases` goes with `needed` releases of `needs` alone."""

    package: str
    releases: str
    needs: str
    needed: str
    why: str
    source: str

    def is_broken(self, installed: Mapping[str, str]) -> bool:
        """Are both installed, in releases that do not go together?"""
        own, other = installed.get(self.package), installed.get(self.needs)
        return bool(own and other) and fits(str(own), self.releases) and not fits(str(other), self.needed)


@functools.cache
def release_needs() -> tuple[ReleaseNeed, ...]:
    """The rows of tables/release_needs.csv, in their order."""
    return tuple(ReleaseNeed(**row) for row in read_rows("release_needs"))


def fits(release: str, wanted: str) -> bool:
    """Is `2.4.1+cu121` one of `>=2.4,<2.5`?"""
    return all(_compares(_numbers(release), part) for part in wanted.split(","))


def _compares(given: tuple[int, ...], part: str) -> bool:
    sign = next(c for c in COMPARISONS if part.startswith(c))
    bound = _numbers(part)
    padded = given + (0,) * (len(bound) - len(given))
    if sign == "==":
        return padded[: len(bound)] == bound
    return {">=": padded >= bound, "<=": padded[: len(bound)] <= bound, "<": padded < bound, ">": padded > bound}[sign]


def _numbers(release: str) -> tuple[int, ...]:
    """The numbers of a release, without what stands behind a plus sign or a letter: `2.4.0rc1+cu121` is 2, 4, 0."""
    plain = release.lstrip("<>=").partition("+")[0]
    found = [NUMBER_PATTERN.match(part) for part in plain.split(".")]
    return tuple(int(m[0]) for m in found[:MAX_NUMBERS] if m)


def release_remedies(installed: Mapping[str, str], named: Collection[str]) -> tuple[Remedy, ...]:
    """The remedy of the row that `installed` breaks and of which `named`, packages that the failure is about, has most."""
    broken = [n for n in release_needs() if not {n.package, n.needs}.isdisjoint(named) and n.is_broken(installed)]
    broken.sort(key=lambda n: (-len({n.package, n.needs} & set(named)), n.package not in named))
    return tuple(_remedy(need, installed) for need in broken[:1])


def _remedy(need: ReleaseNeed, installed: Mapping[str, str]) -> Remedy:
    own, other = installed[need.package], installed[need.needs]
    change = f"Install {need.needs}{need.needed} beside {need.package} {own}"
    command = f'python -m pip install "{need.needs}{need.needed}"'
    if need.needs == "python":
        change, command = f"Run {need.package} {own} with Python {need.needed}", "python --version"
    return Remedy(
        do=f"{change}, or install a {need.package} that was made for {need.needs.replace('python', 'Python')} {other}",
        who="user",
        why=f"The log shows {need.package} {own} and {need.needs} {other}, which do not belong together. {need.why}",
        commands=(command, f"python -m pip install -U {need.package}   # in place of it"),
        when=("evidence~.",),  # the rows are chosen by the packages that the evidence names
        source=need.source,
    )
