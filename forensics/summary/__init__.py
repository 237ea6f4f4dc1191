"""Parts of the Report that present the decision: subject, incidents, timeline, sources. They decide nothing."""
