"""Place: events get a time where one can be justified and a lane of their own where not; links; incidents.

Every assumption (a year, a date, a zone) is a Warning. A time is never invented: what cannot be placed stays without.
"""

from forensics.timeline.incidents import incidents
from forensics.timeline.links import links
from forensics.timeline.place import Clock, clock_of, full_times, place

__all__ = ["Clock", "clock_of", "full_times", "incidents", "links", "place"]
