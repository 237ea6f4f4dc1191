# A plain script that logs each step, with loss spikes, skipped non-finite steps, slow steps and an evaluation between.
python long_training.py
