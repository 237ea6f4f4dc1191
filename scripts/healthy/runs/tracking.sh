# Offline experiment tracking; TensorBoard started, replaced by a newer one, and stopped.
export WANDB_MODE=offline; python tracking.py
env --default-signal=INT tensorboard --logdir runs --port 6006 & job=$!; sleep 8; curl -s -o /dev/null localhost:6006/; curl -s -o /dev/null localhost:6006/nothing; echo "Killing old tensorboard process"; kill -INT $job; wait $job 2>/dev/null
tensorboard --logdir runs --port 6006 & job=$!; sleep 6; kill -TERM $job; wait $job 2>/dev/null; echo "exit status 0"
