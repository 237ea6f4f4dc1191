"""Says why a Slurm job ended: its accounting, its output files, what was captured of it and its node's logs, in one report.

    programs     asks sacct and scontrol
    accounting   their answers as rows: the job, its steps, earlier attempts; in words
    outputs      where the job's output lies: by scontrol, else by the options it was submitted with
    node         what the logs of its node say of this job, and of no other
    evidence     a folder with all that can be had, for the analysis
    answer       the report, with what Slurm itself says of the job
    epilog       the same at a job's end, detached, for slurmd and slurmctld

Slurm's state alone misleads: a job whose script continued after a step was killed for memory is COMPLETED 0:0.
"""
