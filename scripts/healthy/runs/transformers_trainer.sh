# The Trainer on a model made from nothing, without a network: the hub is tried, given up, and local files are used.
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=true; python transformers_training.py
