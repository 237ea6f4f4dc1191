"""The digest is that of hashlib."""

import hashlib

from forensics.core.digest import sha256


def test_it_is_sha_256() -> None:
    assert sha256(b"a log").hexdigest() == hashlib.sha256(b"a log").hexdigest()
