#!/bin/sh
# Installs what the capture benchmark compares with and pip does not have: s6-log. Debian or Ubuntu, as root.
# Running it again changes nothing.
set -eu

if command -v s6-log >/dev/null; then
    echo "benchmark stage: s6-log is there"
    exit 0
fi
if [ "$(id -u)" != 0 ]; then
    echo "benchmark stage: missing: s6; run this as root" >&2
    exit 69
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends s6
command -v s6-log >/dev/null
