# Python's own server: missing files, broken requests, clients that hang up in the middle.
env --default-signal=INT python -m http.server 8000 & job=$!; sleep 1; for p in / /job.sh /missing /%00 /a/../b; do curl -s -o /dev/null http://127.0.0.1:8000$p; done
printf 'GET\r\n\r\n' | timeout 2 bash -c 'cat > /dev/tcp/127.0.0.1/8000'; printf '\x16\x03\x01\x02\x00\x01\x00\x01' | timeout 2 bash -c 'cat > /dev/tcp/127.0.0.1/8000'
head -c 30000000 /dev/zero > big; for i in 1 2 3; do python hang_up.py 8000 /big; done; sleep 1; kill -KILL $job; wait $job 2>/dev/null
