"""At the death: run, watch and collect write bundles that `sources` reads. Imports nothing of the analyser.

    forensics run -- python train.py    front -> keeper -> the job;  collector, joblog, tree, cgroups, kernel, senders -> bundle

Standard library alone, so that what watches a job for weeks is small and needs nothing of the job's environment.
"""
