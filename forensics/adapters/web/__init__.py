"""A history as pages of a browser: an index of its incidents, and a page for each. Nothing can be changed through it.

    pages    the pages: rows of the history as an index, one incident as a report
    server   the addresses, and the server on 127.0.0.1

`forensics serve` starts it; the packages of the extra `serve` are needed (docs/history.md).
"""
