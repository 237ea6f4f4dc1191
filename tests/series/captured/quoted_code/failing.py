"""The same code in a test that fails."""


def test_fit():
    for step in range(4):
        print(f"step {step} loss {2.0 - step / 10:.1f} rss {500 + step} MB")
    loss = 9.5
    memory = 900
    assert {"loss": 1.5}.get("rss_mb", loss + memory) == 700
