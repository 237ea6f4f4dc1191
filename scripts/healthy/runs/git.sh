# A conflict in a rebase is met and resolved; clone, fsck, repack; a push that is refused and then taken.
bash git_session.sh 2>&1
