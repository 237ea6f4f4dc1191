"""Two threads fill a table of features while a third one goes over it to report how far they are."""

import threading
import time

features = {}


def compute(start):
    for n in range(start, start + 4000):
        features[n] = n * n
        time.sleep(0)


def report():
    while len(features) < 8000:
        print("features", len(features), "sum", sum(value for value in features.values()), flush=True)


threads = [threading.Thread(target=compute, args=(start,)) for start in (0, 4000)] + [threading.Thread(target=report)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
