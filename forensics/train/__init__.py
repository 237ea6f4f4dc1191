"""Train and measure: labelled incidents -> weights of the classifier, and numbers that say how often it is right.

Nothing here is needed for a report. scikit-learn, scipy, pandas and matplotlib are imported by the functions that use them.
"""
