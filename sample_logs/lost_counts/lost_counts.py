"""Counts the words of many texts in threads that share one counter without a lock, and checks the sum at the end."""

import threading
import time


class Counter:
    """How many words were seen."""

    def __init__(self):
        self.words = 0

    def add(self, texts):
        for text in texts:
            seen = self.words
            time.sleep(0.0001)  # the text is looked up elsewhere, and another thread comes in
            self.words = seen + len(text.split())


texts = [f"the word {n} stands beside the word {n + 1}" for n in range(2000)]
counter = Counter()
threads = [threading.Thread(target=counter.add, args=(texts[part::4],)) for part in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(f"{counter.words} words in {len(texts)} texts")
assert counter.words == 8 * len(texts), f"{counter.words} words counted of {8 * len(texts)}"
