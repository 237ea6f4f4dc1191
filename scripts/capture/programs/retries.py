"""Prepares a data set from which some records are broken; each is reported, skipped, and the run goes on."""

import json
import logging
import math
import random

logging.basicConfig(format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("prepare")
random.seed(4)


def parse(number: int) -> float:
    """Parse one record."""
    text = json.dumps({"loss": random.random()})
    if number in (117, 342):
        text = text[:-3]
    return json.loads(text)["loss"] if number != 250 else math.nan


values = []
for number in range(400):
    try:
        values.append(parse(number))
    except ValueError:
        log.exception("record %d is corrupt, skipping it", number)
    if number % 50 == 0:
        log.info("processed %d records, error rate %.4f", number, (number + 1 - len(values)) / (number + 1))
bad = sum(map(math.isnan, values))
log.warning("dropped %d value that was not finite; 0 workers killed, 0 out of memory", bad)
log.info("done: kept %d of 400 records, exit code 0", len(values) - bad)
