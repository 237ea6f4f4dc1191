"""Training and evaluation: learn the weights of the classifier from labelled incidents, and measure how often it is right.

An analysis needs nothing of this. numpy and scipy are imported by the functions that use them.
"""
