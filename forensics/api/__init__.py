"""The Python API: analyze() returns a Report with methods for every format, for notebooks and for tables.

>>> import forensics
>>> report = forensics.analyze("sample_logs/jupyter_oom", workers=1)
>>> report
<forensics.Report jupyter_oom: crash, host_memory.oom_cgroup 89 %>

Fields have the names of the JSON document: `report.causes[0].evidence[0].text`.
"""

from forensics.api.analysis import Knowledge, analyze
from forensics.api.report import Report
