# A database: made, started, asked wrong things, its load test run, restarted, shut down.
export PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | head -1); initdb -D d -A trust; echo "unix_socket_directories = '/tmp'
log_checkpoints = on
log_connections = on
log_lock_waits = on" >> d/postgresql.conf
postgres -D d -p 5544 & job=$!; sleep 3; p="psql -h /tmp -p 5544 postgres"; $p -c 'select 1/0'; $p -c 'select * from nothing'; psql -h /tmp -p 5544 missing; $p -c 'set statement_timeout=100; select pg_sleep(5)'
pgbench -i -h /tmp -p 5544 postgres; pgbench -T 4 -c 4 -h /tmp -p 5544 postgres; $p -c 'checkpoint'; ($p -c 'select pg_sleep(30)' &) ; sleep 1; pg_ctl -D d restart -m fast -o "-p 5544" -l later.log; sleep 2; pg_ctl -D d stop -m smart; cat later.log; wait
