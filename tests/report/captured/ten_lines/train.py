"""Ten lines of about one length, none of them wrapped; three tell of an error that was caught."""

import numpy as np

for epoch in range(4):
    print(f"Epoch {epoch}: training on 2 devices with a batch of 32, learning rate 0.001 and")
    if epoch < 3:
        print(f"Epoch {epoch}: validation of the model on the held-out split of the data, 12 it.")
    if epoch != 1:
        try:
            np.ones((2, 3)) + np.ones((2, 2))
        except ValueError as error:
            print(f"ValueError: {error}")
