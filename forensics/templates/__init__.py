"""Compare: messages folded by template, what one run says that another never did, and what is unusual in a log.

[rank3]: step 120 took 0.8 s at /data/a7/train.py  ->  step <n> took <n> s at <path>/train.py
"""

from forensics.templates.difference import difference
from forensics.templates.template import template
from forensics.templates.unusual import unusual

__all__ = ["difference", "template", "unusual"]
