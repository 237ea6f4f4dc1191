"""What the lines around the evidence tell of the place: the own line of code, the pod, the host, the rank, the device, the step.

Each producer's module reads its own lines; a fact that one of them has told is not told again by a later one.
"""

from collections.abc import Callable, Sequence

from forensics.model import Fields, LinesAround, Proof
from forensics.readers.gpu.places import asserting_kernel, devices, gpus
from forensics.readers.kernel.places import kernel_place
from forensics.readers.notebooks.places import cell_of_output, editor_cell, notebook
from forensics.readers.platforms.hosts import hosts, prompt_host, started_on
from forensics.readers.platforms.java import go_frame, java_frame
from forensics.readers.platforms.kubernetes_places import pod
from forensics.readers.platforms.named_things import connection, named_file, path_before_error
from forensics.readers.platforms.shell_places import command, refused_program
from forensics.readers.platforms.slurm_places import task_of_srun
from forensics.readers.platforms.worker_places import hadoop_job, worker
from forensics.readers.progress.places import progress, step_of_bar
from forensics.readers.python.near_tracebacks import code_near, crash_stack, raised_in
from forensics.readers.surroundings.named_place import logged_at
from forensics.readers.surroundings.near import Found
from forensics.readers.torch.rank_places import rendezvous_endpoint, reporting_ranks, stalled_ranks, table, tagged_rank


def place_near(facts: Fields, proofs: Sequence[Proof], around: LinesAround) -> Found:
    """The facts on the place that the lines around the first of `proofs` tell and `facts` do not."""
    if not proofs:
        return {}
    lines, at = around(proofs[0])
    if not lines:
        lines, at = [proofs[0].text], 0
    found: Found = code_near(facts, lines, at)
    for read in PLACE_READERS:
        found |= {n: v for n, v in read(facts, proofs, lines, at).items() if n not in found}
    return found


PLACE_READERS: tuple[Callable[[Fields, Sequence[Proof], Sequence[str], int], Found], ...] = (
    asserting_kernel,
    raised_in,
    tagged_rank,
    reporting_ranks,
    stalled_ranks,
    worker,
    path_before_error,
    prompt_host,
    task_of_srun,
    pod,
    rendezvous_endpoint,
    hadoop_job,
    step_of_bar,
    devices,
    gpus,
    command,
    refused_program,
    crash_stack,
    table,
    hosts,
    named_file,
    connection,
    editor_cell,
    cell_of_output,
    kernel_place,
    progress,
    notebook,
    started_on,
    java_frame,
    go_frame,
    logged_at,
)
