"""What servers of notebooks, papermill and editors print: notebooks, cells, kernels."""
