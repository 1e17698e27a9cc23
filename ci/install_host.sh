#!/bin/sh
# Installs what the host stage of the tests needs: a systemd to boot in namespaces, a tmux, and the tools to make both.
# Debian or Ubuntu, as root. Asks apt only for what is missing; starts no service. Running it again changes nothing.
set -eu

# A program of the package, and the package. systemd's manager is looked for by path: systemctl alone is no manager.
needs() {
    cat <<'NEEDS'
/usr/lib/systemd/systemd systemd
/usr/lib/systemd/systemd-journald systemd
systemctl systemd
journalctl systemd
tmux tmux
unshare util-linux
nsenter util-linux
mount mount
ps procps
NEEDS
}

missing() {
    needs | while read -r program package; do
        # Where /usr is not merged, systemd lives in /lib.
        command -v "$program" >/dev/null || command -v "${program#/usr}" >/dev/null || echo "$package"
    done | sort -u
}

packages=$(missing)
if [ -z "$packages" ]; then
    echo "host stage: everything is there"
    exit 0
fi
if [ "$(id -u)" != 0 ]; then
    echo "host stage: missing: $(echo $packages); run this as root" >&2
    exit 69
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# shellcheck disable=SC2086 - one word per package
apt-get install -q -y --no-install-recommends $packages
packages=$(missing)
if [ -n "$packages" ]; then
    echo "host stage: still missing: $(echo $packages)" >&2
    exit 1
fi
