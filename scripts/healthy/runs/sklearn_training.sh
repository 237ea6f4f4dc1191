# Models that say each iteration, convergence warnings, and a search in which some settings cannot be fitted.
python -W default sklearn_training.py
