"""Two threads wait for each other's lock, the main thread for both; then comes Ctrl-C."""

import threading
import time

first, second = threading.Lock(), threading.Lock()


def work(a: threading.Lock, b: threading.Lock) -> None:
    with a:
        time.sleep(0.2)
        with b:
            print("both locks held")


for step in range(9):
    print(f"step {step} loss {2 / (1 + step):.4f}", flush=True)
threads = [threading.Thread(target=work, args=locks, daemon=True) for locks in ((first, second), (second, first))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
