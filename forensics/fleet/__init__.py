"""Many: thousands of incidents analysed on an existing engine, Dask. Nothing of an own engine.

    folders, globs, URLs -> Case -> a Dask worker, whose helper process analyses under limits -> Parquet in parts -> a page

Scheduler and client see paths and reports only. Each worker loads the knowledge once and uses one thread.
"""

from forensics.fleet.cases import Case, cases_in

__all__ = ["Case", "cases_in"]
