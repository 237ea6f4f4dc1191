"""Models of scikit-learn that say each iteration; convergence warnings; a search in which some settings cannot be fitted."""

import logging

from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
log = logging.getLogger("experiment")
X, y = load_digits(return_X_y=True)
MLPClassifier((40,), max_iter=60, verbose=True).fit(X, y)
SGDClassifier(max_iter=8, verbose=1, tol=None).fit(X[:600], y[:600])
log.info("logistic regression")
LogisticRegression(max_iter=15, verbose=1).fit(X, y)
GradientBoostingClassifier(n_estimators=12, verbose=2).fit(X[:400], y[:400])
RandomForestClassifier(30, verbose=2, n_jobs=2).fit(X, y)
KMeans(10, verbose=1, n_init=1).fit(X)
search = GridSearchCV(SVC(), {"C": [0.1, 1, -1], "kernel": ["rbf", "linear"]}, cv=3, verbose=3, n_jobs=2)
search.fit(X[:500], y[:500])
log.info("best %s with %.3f", search.best_params_, search.best_score_)
scores = cross_val_score(SVC(), X[:300], y[:300], error_score="raise")
log.info("cross-validation %s", scores)
