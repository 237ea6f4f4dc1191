"""The decision: candidates with named features from owned observations, one learned ranker, a Diagnosis with its ledger."""
