"""Where users are: each adapter is thin, stands alone, calls capture and the public API, and imports no other adapter."""
