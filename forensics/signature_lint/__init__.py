"""The linter of signatures, for their authors: faults, ambiguities, texts that can never be shown. An analysis never runs it."""
