"""The host stage: root, a real systemd, a real tmux, private namespaces (ci/install_host.sh)."""
