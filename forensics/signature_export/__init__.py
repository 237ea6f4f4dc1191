"""Export: signatures and tables of codes become rules for monitors of other projects.

rules.collect(causes, ...)   ->   Rules: patterns in RE2 syntax that keep their examples, and a Loss for each that cannot be kept
targets.TARGETS["loki"].write(...)   ->   the text of a rule file
"""
