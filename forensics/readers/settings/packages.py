"""The releases of Python packages that a log names: lists of pip and conda, environment dumps, banners, an installer's last line.

    transformers==4.44.2                                    -> transformers 4.44.2
    - `transformers` version: 4.40.1                        -> transformers 4.40.1
    numpy                     2.1.0                         -> numpy 2.1.0
    Successfully installed numpy-1.26.4 torch-2.4.0         -> numpy 1.26.4, torch 2.4.0
    Ultralytics 8.2.50 Python-3.10.12 torch-2.3.0+cu121     -> python 3.10.12, torch 2.3.0+cu121

Of a package that is named with several releases the last one counts: an installer may have replaced it. Only the packages of
tables/release_needs.csv are read (NAMES, without opening it): of the others nothing follows.
"""

from collections.abc import Iterable, Mapping

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Scan, Trigger

PATTERNS = patterns_of("packages")
NAMES = (
    *("accelerate", "bitsandbytes", "botocore", "click", "datasets", "deepspeed", "diffusers", "faiss-cpu"),
    *("fastapi", "flask", "fsspec", "gensim", "gym", "gymnasium", "h5py", "httpx", "huggingface-hub"),
    *("imbalanced-learn", "jaxlib", "jinja2", "keras", "lightning", "markupsafe", "matplotlib", "mmcv", "mmdet"),
    *("numba", "numexpr", "numpy", "onnxruntime", "openai", "opencv-python", "opencv-python-headless", "pandas"),
    *("peft", "protobuf", "pyarrow", "pydantic", "python", "pytorch-lightning", "ray", "requests", "scikit-image"),
    *("scikit-learn", "scipy", "sentence-transformers", "setuptools", "shapely", "spacy", "stable-baselines3"),
    *("tensorflow", "tokenizers", "torch", "torchaudio", "torchmetrics", "torchtext", "torchvision", "transformers"),
    *("triton", "trl", "typer", "urllib3", "vllm", "werkzeug", "xformers", "xgboost"),
)
WRITTEN = {name.replace("-", "_") for name in NAMES} | set(NAMES)
TRIGGER = Trigger(
    "packages",
    (
        *sorted(f"{name}{mark}" for name in WRITTEN for mark in ("==", "  ", "` version", " version: ")),
        *("successfully installed ", "which is incompatible.", "python-3.", "torch-1.", "torch-2."),
    ),
)
MAX_PACKAGE_CHARS = 4000  # of a line: an installer's last one names some hundred packages


def packages(scans: Iterable[Scan]) -> Mapping[str, str]:
    """The release of each package that is named, by its name in small letters with hyphens."""
    found: dict[str, str] = {}
    for scan in scans:
        for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number):
            found |= read(region)
    return found


def read(region: Region) -> dict[str, str]:
    """The packages that one line names, with their releases."""
    told = PATTERNS.release.finditer(region.text[:MAX_PACKAGE_CHARS])
    named = {m["name"].lower().replace("_", "-"): m["release"].rstrip(".") for m in told}
    return {name: release for name, release in named.items() if name in NAMES}


def packages_said(message: str) -> set[str]:
    """The packages that the message of an import speaks of: `cannot import name 'x' from 'torchvision.ops'`."""
    found = (next(filter(None, m.groups())) for m in PATTERNS.imported.finditer(message))
    return {name.lower().replace("_", "-") for name in found}


def says_release(message: str) -> bool:
    """Does a message say, by itself, that two packages were compiled against each other's other releases?"""
    return bool(PATTERNS.built_for_another.search(message))
