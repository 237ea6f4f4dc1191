"""Again: incidents remembered, the same failure found, units that fail more often than others.

    Report -> Incident (a row, names of persons hidden) -> Store -> seen 7 times since 3 Oct, on 2 nodes; 5 of them on gpu-0412

`open_store` gives the Store: SQLite in a file, or PostgreSQL by URL. What is asked of it stands in a module for each question.
"""

from forensics.history.incident import Incident, incident_of
from forensics.history.opening import default_place, open_store

__all__ = ["Incident", "default_place", "incident_of", "open_store"]
