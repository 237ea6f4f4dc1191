"""Reports why a Kubernetes pod died, from the output of the user's own kubectl: describe, logs, --previous, events, the node.

    kubectl   runs kubectl; what it refuses is reported
    answer    the files of one pod, the report on them, and what Kubernetes itself says of each container

Nothing is installed in the cluster, and nothing is asked that `kubectl` of this user may not read. `forensics run` as a
container's entry point needs none of this: it writes a short report where `kubectl describe pod` shows it (docs/kubernetes.md).
"""
