"""The code that failed, as its traceback quotes it, and the packages of the libraries that the traceback ends in.

The statement, the values in it, and the own line that called it:

File "/home/u/eval.py", line 7, in main
  run(sentences)
File "/home/u/train.py", line 64, in repeat
  words = random.sample(range(1, actual), k=wanted)
  -> code_line "words = random.sample(range(1, actual), k=wanted)", code_values "actual and wanted",
     caller_place "/home/u/eval.py:7", caller_line "run(sentences)"

  raise ValueError("unknown mode")   -> raised_code in place of code_values: the program stops itself

What the advice knows of an exception that an installed library raised: the packages at the end of its traceback.

  File "/opt/py/lib/python3.9/site-packages/soundbank/tune.py", line 7, in <module>
  File "/opt/py/lib/python3.9/site-packages/skimage/io.py", line 31, in load
AttributeError: module 'scipy' has no attribute 'misc'
    -> raising_package "scikit-image", calling_package "soundbank", asked_package "scipy", library_place "skimage/io.py:31"

A line of a library is no line to correct: `file` and `line_no` are facts of remedies only where they are the program's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import dropwhile

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.database import read_table
from forensics.model import Fields, LinesAround, Proof, Value
from forensics.readers.base import nothing_near
from forensics.readers.programs.code import is_written_map
from forensics.readers.python.failing_parts import LOOKED_UP_IN, PART_FACTS, failing_parts
from forensics.readers.python.frames import BOX, FRAME_CODE_ROWS, MARKS_PATTERN, cell_number, file_frame
from forensics.readers.python.library_files import (
    INSTALLED_PACKAGE,
    installed_package,
    is_library_file,
    is_others_code,
    without_library_folder,
)
from forensics.readers.python.near_tracebacks import Place, tracebacks_near
from forensics.readers.words import words

LIBRARY_FACTS = LIBRARY_PLACE, RAISING, CALLING, ASKED, EXTENSION, PYTHON_RELEASE = (
    "library_place",
    "raising_package",
    "calling_package",
    "asked_package",
    "extension_package",
    "python_release",
)
PACKAGE_FACTS = RAISING, CALLING, ASKED, EXTENSION
EXTENSION_PATTERN = lazy.regex(  # a compiled part of a package, and what it lacks
    INSTALLED_PACKAGE + r"[^\s:]{0,300}\.(?:so|pyd)[\w.]{0,20}: (?:undefined symbol|cannot open)"
)
PATTERNS = patterns_of("failing code")
FRAME_PATTERNS = patterns_of("frames")


def advised_code(facts: Fields) -> dict[str, Value]:
    """`facts` without the place in the code, if that is a library's."""
    library = is_library_file(str(facts.get("file", "")))
    return {n: v for n, v in facts.items() if not library or n not in ("file", "line_no", "function")}


def library_code(proofs: Sequence[Proof], around: LinesAround = nothing_near) -> dict[str, Value]:
    """The packages at the end of the traceback of the first line of evidence, by the names by which they are installed."""
    extension = next(filter(None, (EXTENSION_PATTERN.search(p.text) for p in proofs)), None)
    compiled: dict[str, Value] = {EXTENSION: _distribution(extension["package"])} if extension else {}
    lines, at = around(proofs[0]) if proofs else ((), 0)
    nearest = next(iter(tracebacks_near(lines, at)), []) if lines else []
    ran = next(filter(None, (PATTERNS.python_folder.search(f[1]) for f in nearest)), None)
    python: dict[str, Value] = {PYTHON_RELEASE: f"{ran['major']}.{ran['minor']}"} if ran else {}
    return compiled | python | _last_packages(lines, nearest, proofs)


def _last_packages(lines: Sequence[str], nearest: list[Place], proofs: Sequence[Proof]) -> dict[str, Value]:
    while nearest and PATTERNS.look_up.search(lines[nearest[-1][0]]):
        nearest = nearest[:-1]  # an object that looks a name up asks for nothing itself: the line above does
    if not nearest or not is_library_file(nearest[-1][1]):
        return {}
    outwards = list(dropwhile(lambda f: _of_python(f[1]), reversed(nearest)))
    shown = outwards[0] if outwards and installed_package(outwards[0][1]) else nearest[-1]
    place: dict[str, Value] = {LIBRARY_PLACE: f"{without_library_folder(shown[1])}:{shown[2]}"}
    packages = [_distribution(p) for _, file, _ in outwards if (p := installed_package(file))]
    if not packages or shown is not outwards[0]:
        return place
    facts = place | {RAISING: packages[0]}
    calling = next((p for p in packages if p != packages[0]), None)
    said = next(filter(None, (PATTERNS.asked.search(p.text) for p in proofs)), None)
    asked = _distribution(next(filter(None, said.groups()))) if said else packages[0]
    return facts | ({CALLING: calling} if calling else {}) | ({ASKED: asked} if asked != packages[0] else {})


def _of_python(file: str) -> bool:
    """Is the file one of Python's own, which only runs what packages ask for?"""
    return is_library_file(file) and not installed_package(file)


def _distribution(module: str) -> str:
    """The name by which a module is installed, as far as known: `zmq` is a part of pyzmq, `google.protobuf.any` of protobuf."""
    known = read_table("import_names")
    parents = [module.rsplit(".", parts)[0] for parts in range(module.count(".") + 1)]
    return next((str(known[m]["distribution"]) for m in parents if m in known), parents[-1])


WRITTEN_FACTS = WRITTEN_PLACE, WRITTEN_CODE = "written_place", "written_code"  # where the program itself writes a mapping out

OWN_SCRIPT, TOP_LEVEL = "own_script", "<module>"
STATEMENT_FACTS = CODE_LINE, CODE_VALUES, RAISED_CODE, CALLER_PLACE, CALLER_LINE = (
    "code_line",
    "code_values",
    "raised_code",
    "caller_place",
    "caller_line",
)
RAISED_IN_WORKER = "raised_in_worker"  # which process raised it, where that was not the one that stopped
FAILING_FACTS = *STATEMENT_FACTS, *PART_FACTS, *WRITTEN_FACTS, RAISED_IN_WORKER
MAX_STATEMENT_CHARS = 100  # of a statement that is quoted in a sentence: more than a line of a page
MAX_NAMED_CHARS = 40  # of one value; a longer expression is named by its parts
MAX_VALUES = 4  # as many as a person prints at once
MAX_STATEMENT_ROWS = 6  # of a call whose arguments stand below each other
# What cannot be printed where it failed, and what is printed of its object instead: of `LABELS[name]` the keys of LABELS.
LOOKUP_ERRORS = {"KeyError": "list({})", "IndexError": "len({})", "TypeError": "type({})"}
MAX_LINES_TO_WORKER = 60  # of a traceback of a worker, above its last line
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


def failing_code(facts: Fields, proofs: Sequence[Proof], around: LinesAround = nothing_near) -> dict[str, Value]:
    """The facts of FAILING_FACTS for the line of the program that `facts` name; none where no traceback quotes it. Where no line
    of the program is known, what a library asserted."""
    file, line = facts.get("file"), facts.get("line_no")
    lines, at = around(proofs[0]) if proofs else ((), 0)
    if not lines:
        return {}
    tracebacks = list(tracebacks_near(lines, at))
    for frames in tracebacks if file and line else ():
        place = next((i for i in reversed(range(len(frames))) if frames[i][1:] == (file, line)), None)
        if place is not None:
            return _told(facts, lines, frames, place)
    last = quoted_code(lines, tracebacks[0][-1])[0] if tracebacks and tracebacks[0] else ""
    return {RAISED_CODE: _cut(last)} if last.startswith("assert ") and len(last) <= MAX_STATEMENT_CHARS else {}


def raised_in_worker(proofs: Sequence[Proof], around: LinesAround = nothing_near) -> dict[str, Value]:
    """Which worker of a data loader or a pool raised it: its own traceback stands in that of the process that waited."""
    lines, at = around(proofs[0]) if proofs else ((), 0)
    for text in reversed(lines[max(0, at - MAX_LINES_TO_WORKER) : at + 1]):
        if worker := PATTERNS.loader_worker.search(text):
            return {RAISED_IN_WORKER: f"worker {worker['number']} of a {worker['loader']}"}
        if PATTERNS.pool_worker.match(text):
            return {RAISED_IN_WORKER: "a worker of a process pool"}
    return {}


def started_script(proofs: Sequence[Proof], around: LinesAround = nothing_near) -> dict[str, Value]:
    """The script that Python was started with: the file of the program whose own code, outside all functions, led there."""
    lines, at = around(proofs[0]) if proofs else ((), 0)
    near = lines[max(0, at - MAX_LINES_TO_WORKER) : at + MAX_LINES_TO_WORKER]
    frames = (f for f in map(file_frame, reversed(near)) if f and f.function == TOP_LEVEL and f.file.endswith(".py"))
    return next(({OWN_SCRIPT: f.file} for f in frames if not is_others_code(f.file)), {})


def _told(facts: Fields, lines: Sequence[str], frames: Sequence[Place], place: int) -> dict[str, Value]:
    quoting = place  # IPython counts the rows of a comprehension wrongly; the frame around it stands at the same line
    while quoting and frames[place][1].startswith("Cell") and frames[quoting - 1][1:] == frames[place][1:]:
        quoting -= 1
    code, marked = quoted_code(lines, frames[quoting])
    found: dict[str, Value] = {CODE_LINE: _cut(code)} if code else {}
    direct, in_python = _is_innermost(lines, frames[place + 1 :]), all(_of_python(f[1]) for f in frames[place + 1 :])
    found |= next(filter(None, (failing_parts(t, facts, direct, in_python) for t in map(_parsed, (marked, code)) if t)), {})
    found |= _written_above(root_name(str(found.get(LOOKED_UP_IN, ""))), lines, frames)
    if code.startswith(("raise ", "assert ")):
        found[RAISED_CODE] = _cut(code)
    elif values := _printable(facts, marked, code, direct):
        found[CODE_VALUES] = ", ".join(values[:-1]) + " and " + values[-1] if len(values) > 1 else values[0]
    outer = next((f for f in reversed(frames[:place]) if not is_others_code(f[1]) and f[1:] != frames[place][1:]), None)
    if outer and not outer[1].startswith("Cell"):
        found[CALLER_PLACE] = f"{outer[1]}:{outer[2]}"
    if outer and (called := quoted_code(lines, outer)[0]):
        found[CALLER_LINE] = _cut(called)
    return found


def root_name(whole: str) -> str:
    """The name of which a mapping is a part: `cfg` of `cfg["optimizer"]`; empty where it is no plain name's."""
    name = whole.partition("[")[0]
    return name if name.isidentifier() else ""


def names_in(statement: str) -> set[str]:
    """The names in a statement: `fit(config, 3)` -> fit, config."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if (tree := _parsed(statement)) else set()


def _written_above(name: str, lines: Sequence[str], frames: Sequence[Place]) -> dict[str, Value]:
    """The statement that writes the mapping `name` out, where IPython shows it among the rows above one of `frames`."""
    found: dict[str, Value] = {}
    for at, file, _ in frames if name else ():
        for row in lines[at + 1 : at + 1 + FRAME_CODE_ROWS]:
            shown = PATTERNS.numbered_row.fullmatch(row)
            if not shown or not shown["code"].startswith(name):
                continue
            tree = _parsed(shown["code"])
            node = tree.body[0] if isinstance(tree, ast.Module) and tree.body else None
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                cell, number = cell_number(file), shown["number"]
                place = f"cell {cell}, line {number}" if cell else f"{file}:{number}"
                found = {WRITTEN_PLACE: place, WRITTEN_CODE: _cut(shown["code"])} if is_written_map(node.value) else {}
    return found


def _is_innermost(lines: Sequence[str], further: Sequence[Place]) -> bool:
    """Was the exception raised in the statement itself, and not in what it calls? Looking a name up is no call."""
    return all(PATTERNS.look_up.search(lines[f[0]]) for f in further)


def _cut(code: str) -> str:
    return code if len(code) <= MAX_STATEMENT_CHARS else code[: MAX_STATEMENT_CHARS - 1] + "…"


def quoted_code(lines: Sequence[str], frame: Place) -> tuple[str, str]:
    """The statement that a frame quotes, and the part of it that marks below it underline; empty where none is quoted."""
    below = lines[frame[0] + 1 : frame[0] + 1 + 2 * FRAME_CODE_ROWS]
    if BOX in lines[frame[0]]:
        return _statement(list(_rich_rows(below))), ""
    arrow = next((i for i, row in enumerate(below[:FRAME_CODE_ROWS]) if FRAME_PATTERNS.arrow.match(row)), None)
    if arrow is not None and 'File "' not in lines[frame[0]]:
        first = FRAME_PATTERNS.arrow.sub("", below[arrow], count=1).removeprefix("</a>")
        return _statement([first, *(PATTERNS.row_number.sub("", row, count=1) for row in below[arrow + 1 :] if row.strip())]), ""
    head = lines[frame[0]].find('File "')
    rows = [row[head:] for row in below[:2]] if head >= 0 else []
    if not rows or not rows[0][:1].isspace() or 'File "' in rows[0]:
        return "", ""
    code = rows[0]
    if len(rows) > 1 and MARKS_PATTERN.fullmatch(rows[1]):
        return code.strip(), code[len(rows[1]) - len(rows[1].lstrip()) : len(rows[1].rstrip())].strip()
    return code.strip(), ""


def _rich_rows(below: Sequence[str]) -> Iterator[str]:
    """The code of the row that is marked, and of those below it."""
    marked = False
    for row in below:
        found = (PATTERNS.rich_next if marked else PATTERNS.rich_code).search(row)
        if found:
            marked = True
            yield found["code"].replace(BOX, " ")
        elif marked:
            return


def _statement(rows: Sequence[str]) -> str:
    """The rows of one statement as one line: as many as its brackets ask for."""
    code = ""
    for row in rows[:MAX_STATEMENT_ROWS]:
        code = f"{code} {row.strip()}".strip()
        if not _open_brackets(code):
            break
    return code


def _open_brackets(code: str) -> str:
    """What would close the brackets that are open at the end of `code`."""
    wanted: list[str] = []
    for char in code:
        if char in CLOSED_BY:
            wanted.append(CLOSED_BY[char])
        elif wanted and char == wanted[-1]:
            wanted.pop()
    return "".join(reversed(wanted))


def _printable(facts: Fields, marked: str, code: str, direct: bool) -> list[str]:
    """The values in a statement that can be printed in front of it: none of them is what failed."""
    raised, message = str(facts.get("exc_type", "")).rpartition(".")[2], str(facts.get("exc_message", ""))
    looked_up = direct and raised in LOOKUP_ERRORS and (raised != "TypeError" or "not subscriptable" in message)
    values = _values(marked, direct) or _values(code, direct)
    told: list[str] = []
    for value in values:
        tree = ast.parse(value, mode="eval").body
        if looked_up and isinstance(tree, ast.Subscript):
            told += [*_named_in(tree.slice, direct), LOOKUP_ERRORS[raised].format(ast.unparse(tree.value))]
        elif direct and raised == "AttributeError" and isinstance(tree, ast.Attribute):
            told.append(ast.unparse(tree.value))
        elif not (direct and raised in ("NameError", "UnboundLocalError") and f"'{value}'" in message):
            told.append(value)
    return list(dict.fromkeys(told))[:MAX_VALUES]


def _values(code: str, direct: bool) -> list[str]:
    """The values that go into a statement, as it names them; empty for code that is cut within a word, or has none. `direct`: the
    statement itself failed. Else the object of a method is no value: `trainer` of `trainer.train(batch)`."""
    if code.rstrip().endswith(("(", "[")):  # its arguments stand in lines that are not quoted
        return []
    tree = _parsed(code)
    return list(dict.fromkeys(_named_in(tree, direct)))[:MAX_VALUES] if tree else []


def _parsed(code: str) -> ast.AST | None:
    """A statement of which the first line may be all that is quoted; None if it is none."""
    try:
        return ast.parse(f"{code.removeprefix('el')}{_open_brackets(code)}{' pass' if code.endswith(':') else ''}")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _named_in(node: ast.AST, direct: bool) -> Iterator[str]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        yield from _named_in(node.value, direct) if node.value else ()
    elif isinstance(node, ast.Call):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if owner and not _is_module(owner) and (direct or isinstance(owner, ast.Call)):
            yield from _named_in(owner, direct)
        for part in (*node.args, *(k.value for k in node.keywords)):
            yield from _named_in(part, direct)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        yield from _name(node, direct)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for loop in node.generators:  # what it goes over; its own names are bound there
            yield from _named_in(loop.iter, direct)
    elif not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _named_in(child, direct)


def _name(node: ast.Name | ast.Attribute | ast.Subscript, direct: bool) -> Iterator[str]:
    text = ast.unparse(node)
    if isinstance(node, ast.Name):
        known = _is_module(node) or isinstance(node.ctx, ast.Store)
        yield from () if known else (text,)
    elif isinstance(node, ast.Attribute) and _is_module(node.value) and not text.startswith("self."):
        return  # `torch.float16` is a constant
    elif len(text) <= MAX_NAMED_CHARS and "(" not in text:
        yield text
    else:
        yield from _named_in(node.value, direct)


def _is_module(node: ast.expr) -> bool:
    """Is it a name that is usually a module's, or the object itself?"""
    return ast.unparse(node).split(".")[0] in words("module_names") if isinstance(node, ast.Name | ast.Attribute) else False
