# Process pools, worker initialisation, a caught failure of a task, a graceful end by a signal handler.
python -X dev pool.py; (python graceful.py & p=$!; sleep 3; kill -TERM $p; wait $p); echo "exit status $?"
