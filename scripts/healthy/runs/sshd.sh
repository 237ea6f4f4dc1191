# An ssh daemon with clients that cannot log in, leave early or speak something else.
mkdir -p k && ssh-keygen -q -t ed25519 -N '' -f k/host && ssh-keygen -q -t ed25519 -N '' -f k/me; cp k/me.pub keys; chmod 600 keys
$(command -v sshd) -D -e -f /dev/null -p 2222 -h $PWD/k/host -o StrictModes=no -o AuthorizedKeysFile=$PWD/keys -o PidFile=none -o LogLevel=DEBUG -o UsePAM=no & job=$!; sleep 1
s="ssh -p 2222 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes"; $s -i k/me user@127.0.0.1 'echo hello; exit 3'; $s -i k/host user@127.0.0.1 true; $s nobody@127.0.0.1 true; echo x | timeout 2 bash -c 'cat > /dev/tcp/127.0.0.1/2222'; sleep 1; kill -KILL $job; wait $job 2>/dev/null
