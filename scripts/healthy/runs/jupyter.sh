# A notebook server: files that are missing, a notebook that raises and is mended, restarts, a shutdown.
jupyter server --no-browser --ServerApp.token=x --ServerApp.log_level=INFO & job=$!; until curl -s -o /dev/null 127.0.0.1:8888; do sleep 1; done
python jupyter_driver.py; curl -s -o /dev/null "http://127.0.0.1:8888/api/contents/none.ipynb?token=x"; curl -s -o /dev/null "http://127.0.0.1:8888/api/kernels"; curl -s -X POST "http://127.0.0.1:8888/api/shutdown?token=x"; wait $job 2>/dev/null
