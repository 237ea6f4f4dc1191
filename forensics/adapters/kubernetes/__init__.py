"""Report why a Kubernetes pod died, from the output of the user's own kubectl: describe, logs, --previous, events, the node.

    kubectl   runs kubectl; its refusals are reported
    answer    the files of one pod, the report on them, and the state of each container according to Kubernetes

Nothing is installed in the cluster, and only objects are read that this user's `kubectl` may read. `forensics run` as a
container's entry point needs none of this: it writes a short report where `kubectl describe pod` shows it (docs/kubernetes.md).
"""
