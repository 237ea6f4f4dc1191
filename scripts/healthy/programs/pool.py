"""Pools of processes and threads: tasks that raise and are caught, resources that are left open, a daemon ended with its parent."""

import concurrent.futures as cf
import logging
import multiprocessing as mp
import time

logging.basicConfig(level=logging.INFO, format="%(processName)s %(levelname)s %(message)s")


def work(n: int) -> int:
    logging.info("task %d", n)
    if n == 3:
        raise ValueError("record 3 is broken")
    return n * n


def forever() -> None:
    while True:
        time.sleep(1)


if __name__ == "__main__":
    mp.log_to_stderr(logging.INFO)
    with cf.ProcessPoolExecutor(2) as pool:
        for future in [pool.submit(work, n) for n in range(6)]:
            try:
                print(future.result())
            except ValueError:
                logging.exception("skipped one record")
    with mp.Pool(2) as old:
        print(old.map(abs, range(-4, 4)))
    child = mp.Process(target=forever, daemon=True)
    child.start()
    child.terminate()
    child.join()
    logging.info("helper ended with %s, as asked", child.exitcode)
    open("/dev/null")
    mp.get_logger().info("all done")
