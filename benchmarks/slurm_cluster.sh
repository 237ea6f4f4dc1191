#!/usr/bin/env bash
# A real Slurm of two nodes on this machine, with accounting and memory limits, in a copy of the root folder that is thrown away.
#
#   slurm_cluster.sh up FOLDER [SHARED]   build and start it below FOLDER; the folder SHARED is seen in it, too, at its own path
#   slurm_cluster.sh run FOLDER CMD...    a shell command in it as user alice; `root` in place of `run` for the superuser
#   slurm_cluster.sh down FOLDER          stop it, and remove everything that it left, its cgroups too
#
# Needs root, Debian's packages, overlayfs, loop devices and memory cgroups of version 1. Takes 40 s to build, 10 s to start again.
set -euo pipefail
action=$1
top=$(mkdir -p "$2" && realpath "$2")
root=$top/root
host=$(hostname)

mounts() {
  mkdir -p "$top/disk" "$root"
  [ -e "$top/disk.img" ] || { truncate -s 3G "$top/disk.img" && mkfs.ext4 -q "$top/disk.img"; }
  mountpoint -q "$top/disk" || mount -o loop "$top/disk.img" "$top/disk"
  mkdir -p "$top/disk/upper" "$top/disk/work"
  mountpoint -q "$root" && return
  mount -t overlay overlay -o "lowerdir=/,upperdir=$top/disk/upper,workdir=$top/disk/work" "$root"
  for name in proc sys dev; do mount --rbind "/$name" "$root/$name" && mount --make-rslave "$root/$name"; done
  mount -t tmpfs tmpfs "$root/run"
  mkdir -p "$root/run/munge" "$root/run/mysqld" "$root/mnt/scratch"
  mount -t tmpfs -o size=8M,mode=777 tmpfs "$root/mnt/scratch"  # the disk that a job fills
  chmod 755 "$root/root"                                        # where Python may lie that jobs of others run
}

install() {
  [ -x "$root/usr/sbin/slurmctld" ] && return
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"  # nothing starts by itself
  chroot "$root" sh -ec 'export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends slurm-wlm slurmdbd mariadb-server munge' > "$top/install.log" 2>&1
}

configure() {
  chroot "$root" sh -ec 'id alice >/dev/null 2>&1 || useradd -m -s /bin/bash alice
    mkdir -p /etc/slurm /var/lib/slurm/ctld /var/lib/slurm/n1 /var/lib/slurm/n2 /var/log/slurm /var/spool/forensics
    chmod 1777 /var/spool/forensics
    [ -s /etc/munge/munge.key ] || head -c 1024 /dev/urandom > /etc/munge/munge.key
    chown -R munge: /run/munge /var/log/munge /var/lib/munge /etc/munge
    chmod 400 /etc/munge/munge.key
    chown mysql: /run/mysqld'
  cat > "$root/etc/slurm/slurm.conf" <<C
ClusterName=test
SlurmctldHost=$host
SlurmUser=slurm
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
ReturnToService=2
SlurmctldPidFile=/run/slurmctld.pid
StateSaveLocation=/var/lib/slurm/ctld
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdPidFile=/run/slurmd-%n.pid
SlurmdSpoolDir=/var/lib/slurm/%n
SlurmdLogFile=/var/log/slurm/slurmd-%n.log
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=5
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=200
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoreFlags=job_comment
JobAcctGatherType=jobacct_gather/cgroup
JobAcctGatherFrequency=task=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,bf_continue,bf_hetjob_immediate,requeue_delay=3
NodeName=n1 NodeHostname=$host Port=6818 CPUs=4 RealMemory=1500 State=UNKNOWN
NodeName=n2 NodeHostname=$host Port=6820 CPUs=4 RealMemory=1500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=30 State=UP
Include /etc/slurm/more.conf
C
  [ -s "$root/etc/slurm/more.conf" ] || echo "# what a measurement adds" > "$root/etc/slurm/more.conf"
  cat > "$root/etc/slurm/cgroup.conf" <<C
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
ConstrainRAMSpace=yes
C
  cat > "$root/etc/slurm/slurmdbd.conf" <<C
AuthType=auth/munge
DbdHost=localhost
SlurmUser=slurm
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
C
  chroot "$root" sh -ec 'chown -R slurm: /var/lib/slurm/ctld /var/log/slurm /etc/slurm/slurmdbd.conf
    chmod 600 /etc/slurm/slurmdbd.conf
    touch /run/slurmctld.pid /run/slurmdbd.pid && chown slurm /run/slurmctld.pid /run/slurmdbd.pid'
}

start() {
  chroot "$root" sh -ec 'await() { for _ in $(seq 120); do eval "$1" > /dev/null 2>&1 && return; sleep 0.25; done; echo "not up: $1"; exit 1; }
    setpriv --reuid munge --regid munge --clear-groups munged
    mariadbd --user=mysql --pid-file=/run/mysqld/mariadbd.pid --skip-networking --innodb-buffer-pool-size=32M > /var/log/mariadb.log 2>&1 &
    await "mysqladmin ping"
    mysql -e "create database if not exists slurm_acct_db; create user if not exists slurm@localhost identified by \"slurm\";
              grant all on slurm_acct_db.* to slurm@localhost"
    slurmdbd
    await "sacctmgr -i list cluster"
    sacctmgr -i -Q add cluster test || true
    sacctmgr -i -Q add account lab || true
    for user in alice root; do sacctmgr -i -Q add user $user account=lab || true; done
    slurmctld
    slurmd -N n1
    slurmd -N n2
    await "test \"\$(sinfo -h -N -t idle | wc -l)\" = 2"' > "$top/start.log" 2>&1 < /dev/null
}

stop() {
  for file in run/slurmd-n1.pid run/slurmd-n2.pid run/slurmctld.pid run/slurmdbd.pid run/munge/munged.pid run/mysqld/mariadbd.pid; do
    pid=$(cat "$root/$file" 2>/dev/null || true)
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && sleep 0.1 || break; done
  done
  for pid in $(find /proc -maxdepth 2 -name root -lname "$root" 2>/dev/null | cut -d/ -f3); do kill -9 "$pid" 2>/dev/null || true; done  # of jobs
  sleep 0.5
  umount -lR "$root"
  umount "$top/disk" || umount -l "$top/disk"
  for group in /sys/fs/cgroup/*/slurm_n[12]; do find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true; done
}

case $action in
  up)
    mounts
    install
    configure
    if [ -n "${3:-}" ]; then mkdir -p "$root$3" && mount --rbind "$3" "$root$3" && mount --make-rslave "$root$3"; fi
    start || { cat "$top/start.log" >&2; exit 1; } ;;
  run) shift 2; exec chroot "$root" su -s /bin/bash alice -c "cd ~ && $*" ;;
  root) shift 2; exec chroot "$root" bash -c "$*" ;;
  down) stop ;;
  *) sed -n '2,9p' "$0" >&2; exit 2 ;;
esac
