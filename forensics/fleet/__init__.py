"""Fleet: analyse thousands of incidents on an existing engine, Dask.

    folders, globs, URLs -> Case -> a Dask worker, whose helper process analyses under limits -> Parquet in parts -> a page

Scheduler and client transfer only paths and reports. Each worker loads the signature database once and uses one thread.
"""

from forensics.fleet.cases import Case, cases_in
