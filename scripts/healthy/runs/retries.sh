# Downloads that time out, are refused or answered by 503, and come through in the end.
python flaky_server.py & job=$!; sleep 1; python -W default downloads.py
for i in 1 2; do curl --retry 3 --retry-delay 1 -sS -v -o /dev/null http://127.0.0.1:8099/flaky/$i 2>&1; done; echo done
