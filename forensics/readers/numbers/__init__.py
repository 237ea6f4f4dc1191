"""Numbers that a log prints repeatedly: the labels, tables and units of their readings."""
