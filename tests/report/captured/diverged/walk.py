"""Q-learning on a line of thirty places, of which only the last gives a reward: the loss is zero until it was found."""

import numpy as np

PLACES = 30
rng = np.random.default_rng(1)
values, explored = np.zeros((PLACES, 2)), 1.0
for episode in range(1, 401):
    place, gained, errors = 0, 0.0, []
    for _ in range(200):
        action = rng.integers(2) if rng.random() < explored else int(np.argmax(values[place] + 1e-9 * rng.random(2)))
        after = min(PLACES - 1, place + 1) if action else max(0, place - 1)
        reward = 100.0 if after == PLACES - 1 else 0.0
        error = reward + 0.99 * values[after].max() * (not reward) - values[place, action]
        values[place, action] += 0.1 * error
        errors.append(error**2 + 1e-6)
        gained, place = gained + reward, after
        if reward:
            break
    explored = max(0.05, explored * 0.99)
    if episode % 10 == 0:
        print(f"episode {episode} return {gained:.1f} loss {np.mean(errors):.6f}")
print("done")
