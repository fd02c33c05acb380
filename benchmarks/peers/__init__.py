"""Peers: the workbench's own solvers and those of others, each as a `harness.Peer`."""
