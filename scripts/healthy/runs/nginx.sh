# nginx in front of a server that is not up yet, then is; reloads; a graceful end.
mkdir -p logs tmp; nginx -p . -c nginx.conf & job=$!; sleep 1; curl -s -o /dev/null 127.0.0.1:8003/app/; python -m http.server 8004 >/dev/null 2>&1 & job=$!; sleep 1
for p in /app/ /app/missing / /missing /app/; do curl -s -o /dev/null 127.0.0.1:8003$p; done; nginx -p . -c nginx.conf -s reload; sleep 1; curl -s -o /dev/null 127.0.0.1:8003/app/
nginx -p . -c nginx.conf -s quit; sleep 1; cat logs/error.log logs/access.log
