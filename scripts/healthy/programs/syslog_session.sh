mkdir -p w; cat > r.conf <<C
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="/home/user/run/log.sock")
module(load="imudp")
input(type="imudp" port="5514" address="127.0.0.1")
*.* action(type="omfile" file="/home/user/run/out.log")
C
rsyslogd -n -f r.conf -i /home/user/run/w/pid -M /home/user/debian/usr/lib/x86_64-linux-gnu/rsyslog & job=$!; sleep 2
l="logger -u /home/user/run/log.sock"
for i in $(seq 20); do $l -t cron[$i] "(root) CMD (test -x /usr/sbin/anacron || run-parts /etc/cron.hourly)"; done
$l -p daemon.err -t smartd "Device: /dev/sda, SMART Usage Attribute: 194 Temperature_Celsius changed from 64 to 65"; $l -p auth.warning -t sudo "user : TTY=pts/0 ; PWD=/home/user ; USER=root ; COMMAND=/usr/bin/nvidia-smi"
ls /none 2>&1 | $l -t ls; python3 --version 2>&1 | $l -t python3; printf '%s\n' "<13>over udp" | timeout 1 bash -c 'cat > /dev/udp/127.0.0.1/5514'; $l -t train -f /home/user/run/job.sh
sleep 1; kill -HUP $(cat w/pid); sleep 1; kill -TERM $job; wait $job 2>/dev/null; cat out.log
