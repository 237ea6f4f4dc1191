"""The documentation as a site: the pages of docs/ and those written from the database, in build/docs.

    python -m scripts.docs                    # writes build/docs
    python -m scripts.docs --build            # and makes the site build/site of it, with zensical
    python -m scripts.docs.links              # dead links inside; --external asks the network for those to elsewhere

A page for each cause and each code is written from signatures/ at every build, so none of them is part of the repository.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
