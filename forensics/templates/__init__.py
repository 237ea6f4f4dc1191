"""Templates of messages: group lines that differ only in variable parts, and compare two runs by their templates.

[rank3]: step 120 took 0.8 s at /data/a7/train.py  ->  step <n> took <n> s at <path>/train.py
"""

from forensics.templates.difference import difference, known_templates
from forensics.templates.tally import Templates
from forensics.templates.template import template

__all__ = ["Templates", "difference", "known_templates", "template"]
