"""Record a run while it happens: run, watch and collect write bundles that `sources` reads. Imports no other room.

    forensics run -- python train.py    foreground -> supervisor -> the job;  collector, joblog, tree, cgroups, kernel -> bundle

It uses only the standard library, so that the process that watches a job for weeks is small and does not depend on the job's
environment.
"""
