# A training with progress bars, loader workers, mixed precision, warnings, a batch that did not fit and was halved, a resume.
python -W default torch_training.py; python torch_training.py --resume
