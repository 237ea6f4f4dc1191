"""A service that is asked to end and does so."""

import logging
import signal
import sys
import time

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")


def end(number: int, _frame: object) -> None:
    logging.info("asked to end (signal %d); closing 3 connections", number)
    logging.info("bye")
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
for beat in range(100):
    logging.info("heartbeat %d, queue 0", beat)
    time.sleep(0.25)
