"""Ownership of evidence: the subject's own (`mine`), another entity's (`others`) or `unknown`, and the link that shows it.

Evidence of others never becomes the subject's cause, however severe it is. Evidence that only time links to the subject counts
less the further away it is.
"""

from forensics.ownership.asked_subject import Subject, among_incidents, find_subject, job_of, last_that, part_by_job, subject_of
from forensics.ownership.owners import assign_owners
