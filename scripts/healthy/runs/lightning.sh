# Lightning: checkpoints, early stopping, a learning-rate finder, a profiler.
python -W default lightning_training.py
