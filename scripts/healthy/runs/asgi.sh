# uvicorn and gunicorn: handlers that raise, reloads, workers that come and go by request.
uvicorn --port 8001 --workers 2 --log-level debug web:app & sleep 5; for p in / /fail /slow /missing /; do curl -s -m 2 -o /dev/null http://127.0.0.1:8001$p; done; kill -TERM %1; wait
gunicorn -k uvicorn.workers.UvicornWorker -w 2 -b 127.0.0.1:8002 --access-logfile - --log-level debug web:app & sleep 5
for p in / /fail /missing; do curl -s -o /dev/null http://127.0.0.1:8002$p; done; kill -HUP %2; sleep 4; kill -TTIN %2; sleep 2; kill -TTOU %2; sleep 2; kill -TERM %2; wait
