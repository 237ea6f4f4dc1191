"""The compiled modules of the package in one file beside Python's own: a short run loads 340 of them, and to look for each and
open its file takes a tenth of its time.

    forensics/cli/__pycache__/kept_code.cpython-311.pyc:  size of the places | places | code of each module

A module whose source has another time or size than when it was kept is imported as ever, and so are all where the file is damaged
or the package was moved. Modules are added as commands need more. The file lies where Python keeps what it compiles, because
it is as much trusted; and under the name of what `kept_code.py` is compiled to, because pip deletes that and no other with the
package. Whoever imports `kept_code` compiles it anew, and the modules are kept again.
"""

import atexit
import contextlib
import marshal
import os
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = __file__.rpartition("/cli/")[0]  # of the package
CHECKSUM_BYTES = 4  # of the places, in front of all else
HEAD_BYTES = 8  # checksum and size of the places
MODE_BITS = 0o666  # of a file that is no program
LAST_STREAM = 2  # the descriptor of stderr
HOLDER = "kept_code"  # the module whose compiled file it is

Place = tuple[Any, ...]  # where the code stands, its size; time and size of the source; is it a package?
SourceLoader: Any = type(__spec__.loader)  # as Python loads this module; to import the class by its name takes longer
ModuleSpec: Any = type(__spec__)
PLAIN_LOADER = "SourceFileLoader"


class KeptLoader(SourceLoader):  # type: ignore[misc]
    """Loads a module as Python does, from code that was kept."""

    def __init__(self, name: str, path: str, code: bytes) -> None:
        super().__init__(name, path)
        self.code = code

    def get_code(self, _name: str) -> Any:
        """The code of the module."""
        return marshal.loads(self.code)


class KeptModules:
    """Finds the modules that are kept in the file `path`. `places`: where in it each of them stands, by name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = -1
        self.places: dict[str, Place] = {}
        self.begin = 0
        self.before = {*sys.modules}
        self.changed: set[str] = set()

    def read(self) -> None:
        """Read the places."""
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
            self.file = os.open(self.path, os.O_RDONLY)
            if self.file <= LAST_STREAM:  # closed by who started us: words to the stream would go to the file
                os.close(self.file)
                return
            head = os.pread(self.file, HEAD_BYTES, 0)
            self.begin = HEAD_BYTES + int.from_bytes(head[CHECKSUM_BYTES:], "little")
            data = os.pread(self.file, self.begin - HEAD_BYTES, HEAD_BYTES)
            root, places = marshal.loads(data) if _checksum(data) == head[:CHECKSUM_BYTES] else ("", {})
            self.places = places if root == ROOT else {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> Any:
        """The spec of a module that is kept and whose source did not change."""
        place = self.places.get(name)
        if place is None or not path:
            return None
        at, size, *state, is_package = place
        source = f"{path[0]}/{name.rpartition('.')[2]}{'/__init__' if is_package else ''}.py"
        try:
            code = os.pread(self.file, size, self.begin + at)
            is_same = _state(source) == state and len(code) == size
        except OSError:
            is_same = False
        if not is_same:
            self.changed.add(name)
            return None
        spec = ModuleSpec(name, KeptLoader(name, source, code), origin=source, is_package=is_package)
        if is_package:
            spec.submodule_search_locations.append(source.rpartition("/")[0])
        spec.has_location, spec.cached = True, self.path
        return spec

    def keep(self) -> None:
        """Write the modules that this run had to look for, with those that were kept and did not change."""
        loaded = ((n, m) for n, m in [*sys.modules.items()] if n.startswith("forensics.") and n not in self.before)
        new = {n: m.__spec__ for n, m in loaded if m and m.__spec__ and type(m.__spec__.loader) is SourceLoader}
        if sys.dont_write_bytecode or not new:
            return
        with contextlib.suppress(OSError, ImportError, RuntimeError, ValueError, AttributeError):
            self._write(new)

    def _write(self, new: Mapping[str, Any]) -> None:
        from forensics.data_files import cache

        places: dict[str, Place] = {}
        codes = bytearray()
        for name, (at, size, *rest) in self.places.items():
            if name not in self.changed:
                places[name] = (len(codes), size, *rest)
                codes += os.pread(self.file, size, self.begin + at)
        for name, spec in new.items():
            state, code = _state(spec.origin), marshal.dumps(spec.loader.get_code(name))
            places[name] = (len(codes), len(code), *state, spec.submodule_search_locations is not None)
            codes += code
        data = marshal.dumps((ROOT, places))
        path = Path(self.path)
        head = _checksum(data) + len(data).to_bytes(HEAD_BYTES - CHECKSUM_BYTES, "little")
        cache.write_file(path.parent, path.name, head + data + codes)
        path.chmod(Path(__file__).stat().st_mode & MODE_BITS)  # who may read the source may read this


def _state(source: str) -> list[int]:
    found = os.stat(source)  # noqa: PTH116 - 340 times at each start
    return [found.st_mtime_ns, found.st_size]


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(CHECKSUM_BYTES, "little")


def use() -> None:
    """Import modules from those that are kept, and keep at the end what this run adds."""
    compiled = __spec__.cached
    if not compiled or SourceLoader.__name__ != PLAIN_LOADER:  # in an archive, or in a program that was packed
        return
    modules = KeptModules(HOLDER.join(compiled.rsplit(__name__.rpartition(".")[2], 1)))
    modules.read()
    sys.meta_path.insert(0, modules)
    atexit.register(modules.keep)
