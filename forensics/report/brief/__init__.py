"""The brief: as much of the truth about an end as fits into a number of tokens, for agents and tickets.

sections   the sections of a report in reading order, each of items with their worth
budget     takes the items that fit into the budget, the most worth first, and no line twice
voices     writes them, and keeps what a log says apart from what this program says
"""
