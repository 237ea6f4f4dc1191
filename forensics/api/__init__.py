"""The Python API: paths in, a Report out that writes itself in every format, shows itself in a notebook and becomes tables.

>>> import forensics
>>> report = forensics.analyze("sample_logs/jupyter_oom", workers=1)
>>> report
<forensics.Report jupyter_oom: crash, host_memory.oom_cgroup 89 %>

Names of fields are those of the JSON document: `report.causes[0].evidence[0].text`.
"""

from forensics.api.analysis import analyze
from forensics.api.knowledge import Knowledge
from forensics.api.report import Report

__all__ = ["Knowledge", "Report", "analyze"]
