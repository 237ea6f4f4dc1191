set -x
trap 'echo "Segmentation fault (core dumped)" >&2' TERM
advice="CUDA out of memory"
grep -q "Out of memory: Killed process" /dev/null || echo no kill is logged
python fit_run.py
