"""LightGBM and XGBoost with evaluation sets; a search by Optuna whose trials fail, are pruned, or time out, and are caught."""

import lightgbm
import optuna
import xgboost
from sklearn.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True)
train = lightgbm.Dataset(X[:400], y[:400])
valid = lightgbm.Dataset(X[400:], y[400:], reference=train)
lightgbm.train({"objective": "binary", "metric": "auc", "verbosity": 2, "num_leaves": 1024, "min_data_in_leaf": 1}, train, 30, [valid],
               callbacks=[lightgbm.early_stopping(5), lightgbm.log_evaluation(1)])  # fmt: skip
xgboost.train({"objective": "binary:logistic", "verbosity": 2, "unknown_parameter": 1}, xgboost.DMatrix(X[:400], y[:400]), 30,
              [(xgboost.DMatrix(X[400:], y[400:]), "valid")], early_stopping_rounds=4)  # fmt: skip


def objective(trial: optuna.Trial) -> float:
    depth = trial.suggest_int("depth", 1, 8)
    if depth == 5:
        raise MemoryError("out of memory in this trial")
    if depth == 6:
        raise ValueError("Input contains NaN, infinity or a value too large for dtype('float32').")
    if depth == 7:
        return float("nan")
    for step in range(5):
        trial.report(depth + step, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return float(depth)


study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=3))
study.optimize(objective, n_trials=40, catch=(MemoryError, ValueError))
print("best", study.best_params, len(study.trials))
