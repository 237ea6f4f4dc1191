# Downloads that time out, are refused or answered by 503, and come through in the end.
python flaky_server.py & sleep 1; python -W default downloads.py; kill %1
for i in 1 2; do curl --retry 3 --retry-delay 1 -sS -v -o /dev/null http://127.0.0.1:8099/flaky/$i 2>&1; done; wget -T 2 -t 3 http://127.0.0.1:8098/none -O /dev/null; echo done
