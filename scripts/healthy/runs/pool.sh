# Process pools, worker initialisation, a caught failure of a task, a graceful end by a signal handler.
python -X dev pool.py; (python graceful.py & job=$!; sleep 3; kill -TERM $job; wait $job 2>/dev/null); echo "exit status $?"
