"""Parts of the Report that restate what was decided: subject, incidents, timeline, sources. No decision is made here."""
