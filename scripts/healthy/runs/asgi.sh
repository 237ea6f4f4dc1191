# uvicorn and gunicorn: handlers that raise, reloads, workers that come and go by request.
uvicorn --port 8001 --workers 2 --log-level debug web:app & job=$!; sleep 5; for p in / /fail /slow /missing /; do curl -s -m 2 -o /dev/null http://127.0.0.1:8001$p; done; kill -KILL $job; wait $job 2>/dev/null
gunicorn -k uvicorn.workers.UvicornWorker -w 2 -b 127.0.0.1:8002 --access-logfile - --log-level debug web:app & job=$!; sleep 5
for p in / /fail /missing; do curl -s -o /dev/null http://127.0.0.1:8002$p; done; kill -HUP $job; sleep 4; kill -TTIN $job; sleep 2; kill -TTOU $job; sleep 2; kill -KILL $job; wait $job 2>/dev/null
