"""A local cluster whose memory gets scarce but not too scarce; a task that raises once; workers that come and go."""

import logging
import time

import numpy as np
from distributed import Client, LocalCluster

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")


def sometimes(x: int) -> int:
    import os
    from pathlib import Path

    mark = Path(f"/tmp/tried-{x}")
    if not mark.exists():
        mark.write_text(str(os.getpid()))
        raise OSError(5, "Input/output error")
    return x


def holds(x: int) -> int:
    a = np.ones((200 if x % 3 else 330) << 17)
    time.sleep(1.5)
    return int(a[0])


if __name__ == "__main__":
    with LocalCluster(
        2, threads_per_worker=1, memory_limit="500MB", dashboard_address=None, silence_logs=logging.INFO
    ) as cluster:
        with Client(cluster) as client:
            print(client.gather(client.map(sometimes, range(6), retries=2)))
            print(sum(client.gather(client.map(holds, range(10)))))
            cluster.scale(3)
            time.sleep(3)
            cluster.scale(1)
            time.sleep(2)
            client.restart()
            try:
                client.submit(lambda: 1 / 0).result()
            except ZeroDivisionError as error:
                print("as expected:", error)
            print(client.submit(sum, [1, 2]).result())
