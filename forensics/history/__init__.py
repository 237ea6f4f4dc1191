"""History: store incidents, find earlier occurrences of a failure, find hardware that fails more often than the rest.

    Report -> Incident (a row, names of persons hidden) -> Store -> seen 7 times since 3 Oct, on 2 nodes; 5 of them on gpu-0412

`opening.open_store` opens the Store: SQLite in a file, or PostgreSQL by URL. Each kind of query has a module of its own.
"""
