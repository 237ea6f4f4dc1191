# Offline experiment tracking; TensorBoard started, replaced by a newer one, and stopped.
export WANDB_MODE=offline; python tracking.py
tensorboard --logdir runs --port 6006 & sleep 8; curl -s -o /dev/null localhost:6006/; curl -s -o /dev/null localhost:6006/nothing; echo "Killing old tensorboard process"; kill -INT %1; wait
tensorboard --logdir runs --port 6006 & sleep 6; kill -TERM %2; wait; echo "exit status 0"
