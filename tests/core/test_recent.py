"""Values of the objects that were asked about last."""

from forensics.core.recent import Recent


def test_the_last_values_stay_as_far_as_they_weigh_no_more_than_the_limit() -> None:
    kept: Recent[str] = Recent(10)
    first, second, third = [1], [2], [3]
    for owner, value in ((first, "a"), (second, "b"), (third, "c")):
        assert kept.keep(owner, value, 5) == value
    assert (kept.get(first), kept.get(second), kept.get(third)) == (None, "b", "c")


def test_one_value_stays_however_much_it_weighs() -> None:
    kept: Recent[str] = Recent(10)
    light, heavy = [1], [2]
    kept.keep(light, "a", 1)
    kept.keep(heavy, "b", 99)
    assert (kept.get(light), kept.get(heavy)) == (None, "b")


def test_an_equal_object_is_another_one() -> None:
    kept: Recent[str] = Recent(10)
    owner = [1]
    kept.keep(owner, "a", 1)
    assert kept.get([1]) is None


def test_a_value_that_is_kept_again_weighs_once() -> None:
    kept: Recent[str] = Recent(10)
    owner, other = [1], [2]
    kept.keep(owner, "a", 6)
    kept.keep(owner, "b", 6)
    kept.keep(other, "c", 4)
    assert (kept.get(owner), kept.get(other)) == ("b", "c")
