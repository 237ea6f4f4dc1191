"""Conditions over the environment, and the tools that commands name."""

import pytest

from forensics.database.conditions import (
    ENVIRONMENT,
    condition_fault,
    condition_groups,
    condition_holds,
    group_names_of,
    tools,
    tools_available,
)


@pytest.mark.parametrize(
    ("condition", "environment", "answer"),
    [
        ("scheduler=slurm", {"scheduler": {"slurm"}}, True),
        ("scheduler=slurm|pbs", {"scheduler": {"pbs"}}, True),
        ("scheduler=slurm", {"scheduler": {"kubernetes"}}, False),
        ("scheduler=slurm", {}, None),
        ("pid", {}, True),
        ("rank", {}, False),
    ],
)
def test_a_condition_holds_is_excluded_or_is_not_known(
    condition: str, environment: dict[str, set[str]], answer: bool | None
) -> None:
    assert condition_holds(condition, {"pid"}, environment) is answer


def test_a_fact_or_value_that_does_not_exist_is_a_fault() -> None:
    assert condition_fault("scheduler=slurm") is None
    assert condition_fault("limit_bytes") is None
    assert "is no fact" in str(condition_fault("planet=mars"))
    assert "is never slrum" in str(condition_fault("scheduler=slrum"))


def test_the_conditions_of_all_tools_are_sound() -> None:
    for tool in tools():
        assert [f for c in (tool.when, *tool.unless) if c and (f := condition_fault(c))] == [], tool.name
        assert tool.when or tool.unless, tool.name


@pytest.mark.parametrize(
    ("command", "environment", "fits"),
    [
        ("sbatch --mem=SIZE job.sh", {"scheduler": {"slurm"}}, True),
        ("sbatch --mem=SIZE job.sh", {"scheduler": {"kubernetes"}}, False),
        ("sbatch --mem=SIZE job.sh", {}, None),
        ("helm upgrade HUB", {"scheduler": {"slurm"}}, False),
        ("docker run --memory=SIZE", {"container": {"docker"}, "scheduler": {"slurm"}}, False),
        ("model.fit(x, batch_size=8)", {"framework": {"torch"}}, False),
        ("model.fit(x, batch_size=8)", {"framework": {"keras", "torch"}}, True),
        ("torch.cuda.empty_cache()", {"framework": {"jax"}}, False),
        ("torch.cuda.empty_cache()", {}, None),
        ("journalctl -k", {"system": {"windows"}}, False),
        ("systemctl restart x", {"cloud": {"colab"}}, False),
        ("np.load(FILE)", {"language": {"python"}}, True),
    ],
)
def test_a_command_fits_where_its_tools_exist(command: str, environment: dict[str, set[str]], fits: bool | None) -> None:
    assert environment.keys() <= ENVIRONMENT.keys()
    assert tools_available(command, environment) is fits


def test_the_groups_of_a_condition_are_what_they_found() -> None:
    conditions = ("exc_message~name '(?P<name>\\w+)' is(?P<never>x)?", "evidence~(?P<other>y)", "file")
    assert condition_groups(conditions, {"exc_message": "name 'wandb' is not defined"}) == {"name": "wandb"}
    assert group_names_of(conditions) == {"name", "never", "other"}
