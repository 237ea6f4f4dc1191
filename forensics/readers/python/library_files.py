"""Tell the files of installed packages from those of the user's own program, by their paths. Everybody who asks this asks here.

/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py   a library's
/tmp/torchinductor_root/tt/ctt6ajxo.py                              a library's: torch.compile writes it
/home/u/train.py                                                    the program's
"""

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields

LIBRARY_PATH_PATTERN = lazy.regex(
    r"[/\\](?:site|dist)-packages(?:[/\\]|\Z)|/lib(?:64)?/python\d"
    r"|(?i:\\(?:Python\d*|PythonSoftwareFoundation[^\\]+|\w*conda\w*|mini\w+|envs\\[^\\]+|\w*venv\w*)\\Lib\\)"
    r"|<(?:frozen|string>|decorator-gen|makefun-gen|attrs generated|eval_with_key>|lambdifygenerated|@beartype|__array_func)"
    r"|importlib|/torchinductor_|/__autograph_generated_file|/\.cache/"  # code that libraries generate
    r"|\A(?:argparse|threading|runpy)\.py\Z|\.px[di]\Z|\.pyx\Z"  # compiled by Cython: the path is that of the build
    r"|/share/lua/\d|(?:\A|/)pkg/mod/"
    r"|/bin/[\w.-]*(?<!\.py)\Z"  # scripts that pip installs: papermill, torchrun, jupyter-execute
)
INSTALLED_FOLDER_PATTERN = lazy.regex(r"\A.*[/\\](?:(?:site|dist)-packages|lib(?:64)?/python\d[\d.]*|(?i:Lib))[/\\]")
PATTERNS = patterns_of("library files")
INSTALLED_PACKAGE = r"[/\\](?:site|dist)-packages[/\\](?P<package>[A-Za-z_]\w{0,60})"
INSTALLED_PACKAGE_PATTERN = lazy.regex(INSTALLED_PACKAGE)
CODE_FACTS = (("file", "line_no"), ("python_file", "python_line"))


def is_library_file(file: str, function: str = "") -> bool:
    """Is the file part of an installed package, or the script that starts one? `function`: the frame's, where it is known; code
    that Cython compiled gives the module's path with it, and a file below the build's folder: pydantic/main.py, in
    pydantic.main.BaseModel.__init__.
    """
    is_compiled = "/" in file and function.startswith(file.removesuffix(".py").replace("/", ".") + ".")
    return is_compiled or LIBRARY_PATH_PATTERN.search(file) is not None


def installed_package(file: str) -> str:
    """The name of the installed package that the file is of; empty for any other file."""
    found = INSTALLED_PACKAGE_PATTERN.search(file)
    return str(found["package"]) if found else ""


def without_library_folder(file: str) -> str:
    """The path below the folder that packages are installed in: `torch/nn/modules/module.py`."""
    return INSTALLED_FOLDER_PATTERN.sub("", file)


def knows_own_code(facts: Fields) -> bool:
    """Do `facts` name a line of the user's own program?"""
    return any(file in facts and line in facts and not is_library_file(str(facts[file])) for file, line in CODE_FACTS)


def library_folder(file: str) -> str:
    """The long path of a Python environment that a file lies in; empty for other files."""
    found = PATTERNS.environment_folder.match(file)
    return str(found[1]) if found else ""


def is_others_code(file: str) -> bool:
    """Is the file a library's, or no file at all: `<stdin>`?"""
    return file.startswith("<") or is_library_file(file)
