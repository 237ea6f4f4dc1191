"""The stages in order, analyze(): Sources -> SourceAnalysis -> incidents -> Diagnosis -> Report.

`source_analysis` reads each source by itself, many small ones in other processes; `placement` joins them to incidents; `analysis`
calls the stages one after the other; `cases` analyses each case of a folder; `incident_entries` and `reported_subject` make the
parts of the Report that present the decision, and decide nothing.
"""

from forensics.pipeline.analysis import (
    PlacedCase,
    analyze,
    analyze_paths,
    compare_runs,
    database,
    decision_input,
    place_case,
)
from forensics.pipeline.cases import analyze_folders, cases_of, names_of_cases
