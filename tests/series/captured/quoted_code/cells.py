"""Runs train.py as one cell of a notebook, as nbclient does it, and prints its error."""

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

notebook = nbformat.v4.new_notebook()
notebook.cells = [nbformat.v4.new_code_cell(open("train.py").read())]
try:
    NotebookClient(notebook).execute()
except CellExecutionError as error:
    print(error)
