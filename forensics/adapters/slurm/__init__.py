"""Say why a Slurm job ended: its accounting, its output files, its captured bundles and its node's logs, in one report.

    programs     runs sacct and scontrol
    accounting   their output as rows: the job, its steps, earlier attempts; and in sentences
    outputs      the paths of the job's output: from scontrol, else from the options it was submitted with
    node         the lines about this job, and no other, in the logs of its node
    evidence     a folder with all available files, for the analysis
    answer       the report, with Slurm's own records of the job
    epilog       the same at a job's end, detached, for slurmd and slurmctld

Slurm's state alone misleads: a job whose script continued after a step was killed for memory is COMPLETED 0:0.
"""
