"""Two notebooks: one that runs through, one with cells that raise and are followed by others."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

META = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
CELLS = [
    "import numpy as np\nx = np.arange(5.0)\nprint(x.sum())",
    "x / 0",
    "import sys; print('to stderr', file=sys.stderr)",
    "for i in range(40):\n    print('step', i, 'loss', 1 / (i + 1))",
]
RAISES = ["1 / 0", "open('missing.csv')", "import no_such_module", "raise MemoryError", "print('all checks done')"]
for name, cells in (("ok", CELLS), ("raises", [*CELLS, *RAISES])):
    nbformat.write(
        new_notebook(cells=[new_markdown_cell("# A notebook"), *map(new_code_cell, cells)], metadata=META), f"{name}.ipynb"
    )
