"""At the death: run, watch and collect write bundles that `sources` reads. Imports nothing of the analyser.

    forensics run -- python train.py    foreground -> supervisor -> the job;  collector, joblog, tree, cgroups, kernel -> bundle

It uses the standard library only, so the process that watches a job for weeks is small and independent of the job's environment.
"""
