"""Why: owned observations to candidates with named features, one ranker, and a Diagnosis with its ledger."""
