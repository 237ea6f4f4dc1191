"""Names of sources: the shared folder is named once; without one, each name keeps only what tells it from the others."""

from forensics.report.paths import Paths


def test_names_without_a_common_folder_lose_the_folders_they_can_do_without() -> None:
    paths = Paths.among(["/var/log/nodes/node17/kern.log", "/home/user/projects/run7/train.log", "/srv/node17/kern.log"])
    assert paths.shared == ""
    assert [paths.short(name) for name in paths.names] == ["nodes/node17/kern.log", "train.log", "srv/node17/kern.log"]
    assert paths.place("/home/user/projects/run7/train.log", 3) == "train.log:3"
    assert paths.within("pid 7 in /home/user/projects/run7/train.log:3") == "pid 7 in train.log:3"


def test_short_names_stay_as_they_are() -> None:
    assert Paths.among(["a/kern.log", "b/train.log"]).short("a/kern.log") == "a/kern.log"
    assert Paths.among(["data/all/jobs/4711/x.log", "data/all/jobs/4711/y.log"]).shared == "data/all/jobs/4711/"
