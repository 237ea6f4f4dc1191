"""Correlation: to which clock, process, rank, job and incident an observation belongs, and whether it is the subject's own.

An observation gets a time if its clock can be justified, else a lane of its own. Several ids of one process, rank or GPU are
joined. Observations that belong together form an incident. Each assumption (a year, a date, a zone) is a Warning; a time is never
invented. In this room an observation is also called an event: it has a place in time.

`owners` says whose evidence is: the subject's own (`mine`), another entity's (`others`) or `unknown`, and by which link. Evidence
of others never becomes the subject's cause, however severe it is; what only time links to it counts less the further away it is.
"""

from forensics.correlation.clock_alignment import align_clocks, assign_times
from forensics.correlation.clock_inference import full_times, has_date, infer_clock, recorded_zone
from forensics.correlation.entities import LOCAL, IdMappings, Key, different_owners, entity_keys, hosts_differ, key_text
from forensics.correlation.filters import EVERYTHING, Filter, apply_filter, last_incident, unmatched, window
from forensics.correlation.incident_grouping import group_incidents, join_incidents
from forensics.correlation.links import find_links, joined_sources
from forensics.correlation.timestamp_resolver import Clock, completed, in_one_zone, is_disordered, moment_text
from forensics.readers.identity.entity_ids import EntityIds, FileNameIds, entity_ids, ids_of_file_name, is_distinctive, same_host
from forensics.readers.stamps.clock_samples import ClockSample, clock_samples, printed_dates
from forensics.readers.stamps.moment import Moment, moment_of, seconds_between
from forensics.readers.tools.id_tables import IdMapping, is_account, program_pids, read_id_mappings
