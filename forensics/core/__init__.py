"""What every room stands on: errors, limits, text of a log's bytes, lazy regular expressions. Imports nothing of the package."""
