"""What a log tells of the environment and of the settings of a run."""
