#!/bin/sh
# Collects what tells why a job died, where nothing may be installed. Usage: sh collect.sh [PID] [LOGFILE...]
# It reads, and writes one folder and one archive beside it; nothing is sent anywhere.
out=forensics-$(hostname)-$(date +%Y%m%d-%H%M%S); mkdir -p "$out" || exit 1
pid=$1; [ $# -gt 0 ] && shift
say() { printf '%s\n' "$*" >> "$out/collect.txt"; }
keep() { name=$1; shift; "$@" > "$out/$name" 2> "$out/.err" || say "$*: $(head -1 "$out/.err")"; [ -s "$out/$name" ] || rm -f "$out/$name"; rm -f "$out/.err"; }
say "collected $(date -u +%Y-%m-%dT%H:%M:%SZ) on $(hostname), boot $(cat /proc/sys/kernel/random/boot_id 2>/dev/null), up $(cut -d' ' -f1 /proc/uptime 2>/dev/null) s"
keep kernel.log dmesg --time-format iso
[ -s "$out/kernel.log" ] || keep kernel.log dmesg -T
[ -s "$out/kernel.log" ] || keep kernel.log journalctl --dmesg --no-pager --output=short-iso-precise --since -24h
keep journal.log journalctl --no-pager --output=short-iso-precise --since -2h --lines 20000
keep nvidia-smi.txt nvidia-smi -q
keep meminfo.txt cat /proc/meminfo
keep vmstat.txt cat /proc/vmstat
keep df.txt df -h
keep pressure.txt cat /proc/pressure/memory
if [ -n "$pid" ] && [ -d "/proc/$pid" ]; then
  keep status.txt cat "/proc/$pid/status"
  keep limits.txt cat "/proc/$pid/limits"
  keep cgroup.txt cat "/proc/$pid/cgroup"
  keep stack.txt sh -c "for t in /proc/$pid/task/*; do echo \$t \$(cat \$t/comm \$t/wchan); cat \$t/stack; done"
  command -v py-spy > /dev/null && keep py-spy.txt py-spy dump --pid "$pid"
  path=$(sed -n 's/^[0-9]*:[^:]*memory[^:]*://p' "/proc/$pid/cgroup" | head -1); top=/sys/fs/cgroup/memory
  [ -n "$path" ] || { path=$(sed -n 's/^0:://p' "/proc/$pid/cgroup"); top=/sys/fs/cgroup; }
else
  path=; top=/sys/fs/cgroup
fi
for file in memory.events memory.events.local memory.peak memory.max memory.oom_control memory.limit_in_bytes memory.max_usage_in_bytes memory.failcnt; do
  [ -r "$top$path/$file" ] && cp "$top$path/$file" "$out/$file"
done
if [ -n "$SLURM_JOB_ID" ]; then
  keep scontrol.txt scontrol show job "$SLURM_JOB_ID"
  keep sacct.txt sacct --jobs "$SLURM_JOB_ID" --format=ALL --parsable2
fi
for log in "$@"; do tail -c 50000000 "$log" > "$out/$(basename "$log")"; done
tar czf "$out.tar.gz" "$out" && echo "$out.tar.gz"
