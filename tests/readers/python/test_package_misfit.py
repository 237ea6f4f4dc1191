"""Do a traceback's frames show that installed packages do not fit each other?"""

import pytest

from forensics.readers.python.traceback import packages_misfit

OWN_IMPORT = '  File "/home/u/train.py", line 3, in <module>', "    import gensound"
OWN_CALL = '  File "/home/u/train.py", line 9, in main', "    sound = gensound.Mix(rate=3)"
PACKAGE = (
    '  File "/opt/py/lib/python3.12/site-packages/gensound/mix.py", line 40, in <module>',
    "    class Mix(tornado.web.Handler):",
)
NOTEBOOK = (
    "Cell In[1], line 1",
    "----> 1 import gensound",
    "File /opt/py/lib/python3.12/site-packages/gensound/mix.py:40, in <module>",
    "---> 40 base = Loop.initialized()",
)


@pytest.mark.parametrize(
    ("rows", "exception", "message", "misfit"),
    [
        ((*OWN_IMPORT, *PACKAGE), "AttributeError", "type object 'Loop' has no attribute 'initialized'", True),
        (NOTEBOOK, "AttributeError", "type object 'Loop' has no attribute 'initialized'", True),
        ((*OWN_CALL, *PACKAGE), "AttributeError", "module 'tornado' has no attribute 'web'", True),
        ((*OWN_CALL, *PACKAGE), "AttributeError", "module 'plans' has no attribute 'app'", False),  # a name from elsewhere
        ((*OWN_CALL, *PACKAGE), "TypeError", "Mix() got an unexpected keyword argument 'rate'", False),
        ((*OWN_IMPORT, *PACKAGE), "RuntimeError", "no sound card", False),
        (OWN_IMPORT, "AttributeError", "type object 'Loop' has no attribute 'initialized'", False),
        ((), "AttributeError", "module 'tornado' has no attribute 'web'", False),
    ],
)
def test_what_is_missing_as_packages_are_imported_is_missing_in_another_package(
    rows: tuple[str, ...], exception: str, message: str, misfit: bool
) -> None:
    assert packages_misfit(rows, exception, message) is misfit
