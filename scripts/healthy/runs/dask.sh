# A local cluster: memory warnings, a task that raises and is retried, workers retired and restarted, a close.
python dask_session.py
