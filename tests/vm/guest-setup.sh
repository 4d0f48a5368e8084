#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in the chroot of the guest image when it is built: the services that a test needs,
# PostgreSQL with its role and tables, and the unit that hands over to the test.
set -euo pipefail

# Few modules make a small initramfs: unpacking and probing are slow under emulation.
cat >/etc/initramfs-tools/conf.d/lab <<'EOF'
MODULES=list
COMPRESS=zstd
RESUME=none
FSTYPE=ext4
EOF
printf '%s\n' virtio_pci virtio_blk ext4 >>/etc/initramfs-tools/modules

echo lab >/etc/hostname
printf '127.0.0.1 localhost lab\n' >/etc/hosts
: >/etc/fstab
mkdir -p /etc/systemd/journald.conf.d
cat >/etc/systemd/journald.conf.d/lab.conf <<'EOF'
[Journal]
Storage=volatile
RateLimitIntervalSec=0
EOF
systemctl mask --quiet getty@tty1.service apt-daily.timer apt-daily-upgrade.timer \
    dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
    systemd-pstore.service modprobe@drm.service systemd-binfmt.service \
    proc-sys-fs-binfmt_misc.automount

# The cluster: made by the package's own script; no durability, nothing in the background.
data=/var/lib/postgresql/15/main
conf=/etc/postgresql/15/main
bin=/usr/lib/postgresql/15/bin
cat >"$conf/conf.d/lab.conf" <<'EOF'
listen_addresses = 'localhost'
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
jit = off
shared_buffers = 64MB
checkpoint_timeout = 1h
max_wal_size = 1GB
min_wal_size = 32MB
EOF
# What the README tells an administrator to do.
sed -i '1i local all tunerd peer map=tunerd' "$conf/pg_hba.conf"
echo 'tunerd root tunerd' >>"$conf/pg_ident.conf"
as_postgres() { runuser -u postgres -- "$@"; }
install -d -o postgres -g postgres -m 2775 /run/postgresql
cd /
as_postgres "$bin/pg_ctl" -s -w -D "$data" -o "-c config_file=$conf/postgresql.conf" \
    -l /tmp/postgres.log start || { cat /tmp/postgres.log; exit 1; }
as_postgres psql -qc 'CREATE ROLE tunerd LOGIN IN ROLE pg_monitor'
as_postgres createdb bench
as_postgres "$bin/pgbench" -q -i -s 5 bench 2>/dev/null
as_postgres psql -qc 'VACUUM ANALYZE' -c 'CHECKPOINT' bench
as_postgres "$bin/pg_ctl" -s -w -m fast -D "$data" stop
rm -f /tmp/postgres.log

# /dev/vdb: a tar of the product and of the test, unpacked into /. ttyS1: what the test says.
# /dev/vdc: a tar of the files that the test leaves in /run/lab.
mkdir -p /usr/lib/lab
cat >/usr/lib/lab/start <<'EOF'
#!/bin/bash
stty -F /dev/ttyS1 raw -echo
exec >/dev/ttyS1 2>&1 </dev/null
mkdir -p /run/lab
cd /
tar -xf /dev/vdb || { echo "lab: cannot unpack the product"; systemctl poweroff; exit 1; }
systemd-sysusers
systemd-tmpfiles --create 2>/dev/null
systemctl daemon-reload
busctl call org.freedesktop.DBus / org.freedesktop.DBus ReloadConfig
echo "lab: start $(cut -d ' ' -f 1 /proc/uptime)"
bash /lab/main
echo "lab: end $?"
journalctl -o short-monotonic >/run/lab/journal.txt
tar -C /run/lab -cf /dev/vdc .
sync
systemctl poweroff
EOF
chmod 755 /usr/lib/lab/start
cat >/etc/systemd/system/lab.service <<'EOF'
[Unit]
Description=Test of the lab
After=multi-user.target postgresql.service dbus.service
Wants=postgresql.service

[Service]
ExecStart=/usr/lib/lab/start
KillMode=process
OOMPolicy=continue

[Install]
WantedBy=graphical.target
EOF
systemctl --quiet set-default graphical.target
systemctl --quiet enable lab.service postgresql.service
rm -f /var/cache/apt/*.bin /var/lib/apt/lists/*_* /var/log/*.log
: >/etc/machine-id
