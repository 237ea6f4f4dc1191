"""Again: incidents remembered, the same failure found, units that fail more often than others.

    Report -> Incident (a row, names of persons hidden) -> Store -> seen 7 times since 3 Oct, on 2 nodes; 5 of them on gpu-0412

`opening.open_store` gives the Store: SQLite in a file, or PostgreSQL by URL. Each question to it has a module of its own.
"""
