"""Tell the files of installed packages from those of the user's own program, by their paths.

/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py   a library's
/tmp/torchinductor_root/tt/ctt6ajxo.py                              a library's: torch.compile writes it
/home/u/train.py                                                    the program's
"""

from forensics.core import lazy

CYTHON = (".pyx", ".pxd", ".pxi")  # compiled code; its path is that of the build. The caller is the place to look at
FOREIGN_PATHS = (
    "site-packages",
    "dist-packages",
    "/lib/python",
    "/lib64/python",
    "<frozen",
    "importlib",
    "<string>",
    "/torchinductor_",  # code that torch.compile generates
    "<__array_function__ internals>",
)
WINDOWS_LIBRARY_PATTERN = lazy.regex(r"(?i)\\(?:\w*conda\w*|mini\w+|envs\\[^\\]+|python\d*|\w*venv\w*)\\lib\\")
SCRIPT_PATH_PATTERN = lazy.regex(r"/bin/[\w.-]+$")  # start scripts that pip installs: papermill, torchrun, jupyter-execute


def is_library_file(file: str) -> bool:
    """Is the file part of an installed package, or the script that starts one?"""
    return (
        any(part in file for part in FOREIGN_PATHS)
        or file.endswith(CYTHON)
        or WINDOWS_LIBRARY_PATTERN.search(file) is not None
        or (SCRIPT_PATH_PATTERN.search(file) is not None and not file.endswith(".py"))
    )
