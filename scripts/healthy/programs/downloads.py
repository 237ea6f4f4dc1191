"""Downloads through requests with retries, at the debug level, until each has come through; one mirror does not exist."""

import logging
import time

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(levelname)-8s %(name)s: %(message)s")
log = logging.getLogger("download")
session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=Retry(4, backoff_factor=0.3, status_forcelist=[429, 503])))
for name in ("flaky/shard-0", "shard-1", "reset/shard-2"):
    for attempt in range(5):
        try:
            log.info("%s: %s", name, session.get(f"http://127.0.0.1:8099/{name}", timeout=1).text)
            break
        except requests.RequestException as error:
            log.warning("%s: attempt %d failed: %s", name, attempt, error)
            time.sleep(0.2)
try:
    requests.get("http://127.0.0.1:8098/mirror", timeout=1)
except requests.ConnectionError:
    log.exception("mirror 2 is not available, going on with mirror 1")
try:
    requests.get("http://storage.example/x", timeout=1)
except requests.ConnectionError as error:
    log.error("cannot resolve the second bucket, going on without it: %s", error)
log.info("all shards are there")
