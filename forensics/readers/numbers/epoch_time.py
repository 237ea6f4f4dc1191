"""The duration of an epoch, in seconds, from the line that ends it.

100%|#####| 1352/1352 [05:25<00:00,  4.16it/s]      -> 325.0, "time of 1352 steps"
937/937 [=====] - 12s 13ms/step - loss: 0.25        -> 12.0, "time of 937 steps"
Epoch 3 took 45.2 s                                 -> 45.2, "epoch time"

The progress bars of training and validation differ in their number of steps, so each has a series of its own.
"""

from forensics.core import lazy

LAST_STEP_PATTERN = lazy.regex(r"(?<![\d/])(?P<steps>[1-9]\d{0,8})/(?P=steps)(?![\d/])")
STEP_OF_STEPS_PATTERN = lazy.regex(r"(?<![\d/])(\d{1,9})/(\d{1,9})(?![\d/])")
TQDM_END_PATTERN = lazy.regex(r" ?\[(?:(?P<hours>\d{1,4}):)?(?P<minutes>\d{1,2}):(?P<seconds>\d\d)<0?0:00[,\]]")
KERAS_END_PATTERN = lazy.regex(
    r" (?:\[[=.>]{1,60}\] |[━\s]{1,60})?(?:- )?(?P<seconds>\d{1,7})s (?:- )?\d{1,9}(?:\.\d+)?[mu]?s/(?:step|epoch)"
)
EPOCH_DURATION_PATTERN = lazy.regex(
    r"\bepoch\b[^|]{0,40}?(?:\b|_)(?:took|time|duration|done in|finished in|completed in)\b[^\d|]{0,12}"
    r"(?:(?P<minutes>\d{1,5}) ?m(?:in)? )?(?P<number>\d{1,9}(?:\.\d{1,9})?) ?"
    r"(?P<unit>ms|s(?:ec(?:ond)?s?)?|min(?:utes)?|m|h(?:ours)?)?\b"
)
SECONDS_PER_EPOCH_UNIT = {"ms": 1e-3, "m": 60.0, "min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0}
EPOCH_TIME_ANCHORS = ("<00:00", "epoch time", "epoch_time", "epoch duration", " took ")


def epoch_seconds(text: str, lower: str) -> tuple[float, str] | None:
    """(seconds, name of the series) for a line that ends an epoch, else None. `lower`: `text` in lower case."""
    ended = LAST_STEP_PATTERN.search(text) if "/" in text and ("<0" in text or "s/" in text) else None
    if ended:
        name = f"time of {ended['steps']} steps"
        if bar := TQDM_END_PATTERN.match(text, ended.end()):
            return int(bar["hours"] or 0) * 3600.0 + int(bar["minutes"]) * 60.0 + int(bar["seconds"]), name
        if keras := KERAS_END_PATTERN.match(text, ended.end()):
            return float(keras["seconds"]), name
    written = EPOCH_DURATION_PATTERN.search(lower) if "epoch" in lower else None
    if written:
        unit_s = SECONDS_PER_EPOCH_UNIT.get(written["unit"] or "", 1.0)
        return int(written["minutes"] or 0) * 60.0 + float(written["number"]) * unit_s, "epoch time"
    return None
