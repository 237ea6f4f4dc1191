"""The brief: as much of the truth about an end as fits into a number of tokens, for agents and tickets.

tokens     counts the tokens of a text
sections   the sections of a report in reading order, each of items with their worth
lines      the quoted lines of a report as items
choose     takes the items that fit into the budget, the most worth first, and no line twice
speech     keeps what a log says apart from what this program says
"""
