# rsyslog writes what daemons and users tell it.
bash syslog_session.sh
