"""What the source of a program tells of the lines at which it stands: the loops around them, the file that a loop looks for, and
where else the function makes the same call.

    30  for batch in loader:
    37      dist.all_reduce(grad)      stands here   -> in the loop of lines 30-41
    12  while not os.path.exists(path):
    13      time.sleep(1)              stands here   -> looks for path: /data/part-3

17  share(loss)                    stands here   -> the same call at lines 21
20  else:
21      share(loss)

recv (distributed_c10d.py:2799), src: 3      stands here   -> its peer is rank 3

Only numbers of lines and ranks are kept, and the name and the value of that variable.
"""

from __future__ import annotations

import contextlib
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable

    Place = tuple[str, int]  # a file and a line

SOURCE_PREFIX = "forensics run: at "
MAX_SOURCE_BYTES = 1 << 20  # of one file: more is no program that somebody wrote
MAX_READ_SOURCES = 32  # files of one process that are read
MAX_SAME = 16  # lines with the same call that are told
MAX_PATH_CHARS = 400  # as of the paths that the kernel tells
LIBRARY_FOLDERS = ("/site-packages/", "/dist-packages/", "/lib/python")
FILE_TESTS = {"exists", "lexists", "isfile", "is_file", "isdir", "is_dir", "stat", "access", "getsize", "getmtime"}  # for a file
FILE_READS = {"open", "read_text", "read_bytes", "listdir", "scandir", "iterdir", "glob"}  # in a `while` of its own


class Sources:
    """The sources of one process. `root`: what stands before its absolute paths, as of a container; `folder`: before others."""

    def __init__(self, root: str = "", folder: str = "") -> None:
        self._root, self._folder = root, folder
        self._read: dict[str, ast.Module | None] = {}

    def loops(self, place: Place) -> list[tuple[int, int]]:
        """The first and the last line of the loops of one function around a line, the innermost first."""
        return [(loop.lineno, loop.end_lineno or loop.lineno) for loop in self._around(place)]

    def looked_for(self, place: Place) -> ast.expr | None:
        """The path for which the innermost loop around a line looks: `path`, `self.marker`, `f"{path}.ready"`."""
        import ast

        for loop in self._around(place)[:1]:
            looks = FILE_TESTS | FILE_READS if isinstance(loop, ast.While) else FILE_TESTS
            for node in ast.walk(loop):
                if not isinstance(node, ast.Call):
                    continue
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                given = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) and not node.args else [])]
                if called in looks and given:
                    return given[0]
        return None

    def same_calls(self, place: Place) -> list[int]:
        """The other lines at which the same function makes the call that a line makes, as in another branch."""
        import ast

        nodes = list(ast.walk(tree)) if (tree := self._tree(place[0])) else []
        functions = (n for n in nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
        around = [n for n in functions if n.lineno <= place[1] <= (n.end_lineno or 0)]
        within = list(ast.walk(max(around, key=lambda n: n.lineno))) if around else nodes
        calls = [n for n in within if isinstance(n, ast.Call)]
        here = [n for n in calls if n.lineno <= place[1] <= (n.end_lineno or 0)]
        parts = {id(part) for call in here for part in ast.walk(call) if part is not call}
        made = {ast.dump(n) for n in here if id(n) not in parts}
        return sorted({n.lineno for n in calls if n not in here and ast.dump(n) in made})

    def _around(self, place: Place) -> list[ast.For | ast.AsyncFor | ast.While]:
        import ast

        found: list[ast.For | ast.AsyncFor | ast.While] = []
        nodes: list[ast.AST] = [tree] if (tree := self._tree(place[0])) else []
        while nodes:
            node = nodes.pop()
            for inner in ast.iter_child_nodes(node):
                if getattr(inner, "lineno", 0) <= place[1] <= (getattr(inner, "end_lineno", 0) or 0):
                    nodes.append(inner)
                    if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                        found = []
                    elif isinstance(inner, (ast.For, ast.AsyncFor, ast.While)):
                        found.insert(0, inner)
                elif not hasattr(inner, "lineno"):  # a handler, a case, an item of `with`
                    nodes.append(inner)
        return found

    def _tree(self, file: str) -> ast.Module | None:
        import ast

        if file not in self._read and len(self._read) < MAX_READ_SOURCES and not any(part in file for part in LIBRARY_FOLDERS):
            self._read[file] = None
            path = f"{self._root}{file}" if file.startswith("/") else os.path.join(self._folder, file)
            faults = OSError, SyntaxError, ValueError, RecursionError, MemoryError
            with contextlib.suppress(*faults), open(path, "rb") as source:
                self._read[file] = ast.parse(source.read(MAX_SOURCE_BYTES))
        return self._read.get(file)


def source_lines(sources: Sources, places: Iterable[Place], value: Callable[[Place, str], str]) -> list[str]:
    """What the source tells of each place, as lines beside stacks. `value`: that of a variable at a place, empty if unknown."""
    import ast

    told = []
    for place in dict.fromkeys(places):
        if same := sources.same_calls(place):
            told.append(f"{SOURCE_PREFIX}{place[0]}:{place[1]}: the same call at lines {', '.join(map(str, same[:MAX_SAME]))}")
        if loops := sources.loops(place):
            told.append(f"{SOURCE_PREFIX}{place[0]}:{place[1]}: in loops of lines {', '.join(f'{a}-{b}' for a, b in loops)}")
        if loops and (wanted := sources.looked_for(place)):
            path = path_of(wanted, lambda name, at=place: value(at, name))  # type: ignore[misc]
            is_told = path.isprintable() and 0 < len(path) <= MAX_PATH_CHARS
            name = ast.unparse(wanted) if isinstance(wanted, (ast.Name, ast.Attribute)) else "path"
            told.append(f"{SOURCE_PREFIX}{place[0]}:{place[1]}: it looks for {name}{f': {path}' if is_told else ''}")
    return told


def path_of(wanted: ast.expr, value: Callable[[str], str]) -> str:
    """The path: that of a variable, or put together of variables and texts, as `f"{path}.ready"` or `folder / "done"`; empty
    where the value of one of them is not known."""
    import ast

    if isinstance(wanted, ast.JoinedStr):
        parts = [path_of(one.value if isinstance(one, ast.FormattedValue) else one, value) for one in wanted.values]
        return "".join(parts) if all(parts) else ""
    if isinstance(wanted, ast.BinOp):
        parts = [path_of(wanted.left, value), path_of(wanted.right, value)]
        return ("/" if isinstance(wanted.op, ast.Div) else "").join(parts) if all(parts) else ""
    if isinstance(wanted, ast.Constant):
        return wanted.value if isinstance(wanted.value, str) else ""
    return value(ast.unparse(wanted)) if isinstance(wanted, (ast.Name, ast.Attribute)) else ""


def peer_line(file: str, line: int, rank: int) -> str:
    """The line beside stacks that tells with which rank a call between two exchanges something."""
    return f"{SOURCE_PREFIX}{file}:{line}: its peer is rank {rank}"


SPY_FRAME_PATTERN = re.compile(r"^    \S.* \(((?:(?! \().)+):(\d+)\)\s*$")
SPY_PEER_PATTERN = re.compile(r"^ {12}(?:src|dst): (\d{1,7})$")  # of a call between two ranks, in the frame of the call
CALLS_FILE = "torch/distributed/distributed_c10d.py"
SPY_TEXT_PATTERN = re.compile(r"^ {12}(\w{1,60}): \"(.*)(?<!\.\.\.)\"$")  # the text of a variable, as far as py-spy shows it


def lines_of_spy(text: str, pid: int) -> list[str]:
    """What the sources of a process tell of the places in its stacks. `text`: as py-spy prints it with --locals."""
    values: dict[tuple[Place, str], str] = {}
    places: list[Place] = []
    peers: dict[Place, str] = {}
    for line in text.splitlines():
        if found := SPY_FRAME_PATTERN.match(line):
            places.append((found[1], int(found[2])))
        elif places and (found := SPY_TEXT_PATTERN.match(line)):
            values.setdefault((places[-1], found[1]), found[2])
        elif places and places[-1][0].endswith(CALLS_FILE) and (found := SPY_PEER_PATTERN.match(line)):
            peers[places[-1]] = peer_line(*places[-1], int(found[1]))
    sources = Sources(f"/proc/{pid}/root", f"/proc/{pid}/cwd")
    return [*peers.values(), *source_lines(sources, places, lambda place, name: values.get((place, name), ""))]
