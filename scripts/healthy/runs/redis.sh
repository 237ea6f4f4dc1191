# redis: a start with its warnings, saving in the background, a replica that joins, a shutdown.
redis-server --port 6390 --daemonize no --save 1 1 & job=$!; sleep 2; for i in $(seq 30); do redis-cli -p 6390 set k$i $i; done >/dev/null; redis-cli -p 6390 bgsave; redis-cli -p 6390 foo
mkdir r; redis-server --port 6391 --dir r --replicaof 127.0.0.1 6390 & job=$!; sleep 3; redis-cli -p 6391 shutdown nosave; redis-cli -p 6390 shutdown; wait $job 2>/dev/null
