# Gradient boosting by two libraries, and a search of settings in which trials fail and are pruned.
python boosting.py
