"""One run whose handler moves the full log to train.log.1; it ends with an exception."""

import logging
import logging.handlers
import sys
import time

handler = logging.handlers.RotatingFileHandler("train.log", maxBytes=2400, backupCount=3)
logging.basicConfig(handlers=[handler], level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
sys.excepthook = lambda kind, value, trace: logging.critical("uncaught", exc_info=(kind, value, trace))
for step in range(60):
    logging.info("step %d loss %.4f", step, 2 / (1 + step))
    time.sleep(0.02)
raise KeyError("val_loss")
