"""Four processes train one linear model and average their weights at each step; a checkpoint and an evaluation take two locks in
opposite order, so two of them wait for each other and the rest for them. The launcher goes on saying that all are alive."""

import logging
import multiprocessing
import sys
import time

import numpy as np

RANKS, FEATURES, STEPS, SAVE_AT = 4, 256, 4000, int(sys.argv[1])


def train(rank, shared, barrier, weights_lock, metrics_lock):
    """The loop of one rank."""
    logging.basicConfig(format=f"[rank{rank}] %(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stdout)
    rng, weights = np.random.default_rng(rank), np.zeros(FEATURES)
    truth = np.random.default_rng(99).normal(size=FEATURES)
    for step in range(STEPS):
        begin = time.perf_counter()
        inputs = rng.normal(size=(512, FEATURES))
        error = inputs @ (weights - truth)
        shared[rank * FEATURES : (rank + 1) * FEATURES] = weights - 0.02 * inputs.T @ error / len(error)
        barrier.wait()
        weights = np.array(shared[:]).reshape(RANKS, FEATURES).mean(axis=0)
        time.sleep(0.3)
        if step and step % SAVE_AT == 0 and rank == 0:
            with weights_lock:
                np.save("checkpoint.npy", weights)
                time.sleep(0.2)
                with metrics_lock:
                    logging.info("checkpoint saved")
        if step and step % SAVE_AT == 0 and rank == 3:
            with metrics_lock:
                time.sleep(0.2)
                with weights_lock:
                    logging.info("held-out error %.4f", np.mean((weights - truth) ** 2))
        barrier.wait()
        if rank in (0, 3):
            logging.info("step %d/%d loss %.5f step_time %.3f", step, STEPS, np.mean(error**2), time.perf_counter() - begin)


if __name__ == "__main__":
    shared = multiprocessing.Array("d", RANKS * FEATURES, lock=False)
    barrier, locks = multiprocessing.Barrier(RANKS), (multiprocessing.Lock(), multiprocessing.Lock())
    workers = [multiprocessing.Process(target=train, args=(rank, shared, barrier, *locks)) for rank in range(RANKS)]
    for worker in workers:
        worker.start()
    logging.basicConfig(format="launcher %(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stdout)
    while any(worker.is_alive() for worker in workers):
        time.sleep(30)
        logging.info("%d of %d ranks are alive", sum(worker.is_alive() for worker in workers), RANKS)
