/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tunerd knows, as one JSON document with stable keys: the answer of the bus method GetStatus and of
 * `tunectl status --json`. Keys are only added, never renamed. A number that is not known is null.
 *
 *  { "version": "0.1", "schema": 1,
 *    "mode": "observe" | "tune" | "pause" | "pause-baseline",
 *    "mode_origin": "configuration /etc/tunerd/tunerd.conf" | "tunectl, until reboot" | "tunectl, for 10min more" | ...,
 *    "doing": "one sentence: what is happening and why",        // "calibrating: 3 of 5 quiet quads", "observing: ..."
 *    "host": { "kernel": "6.1.0-..", "cpus": 4, "online": "0-3", "packages": 2, "nodes": 2, "tunable": true,
 *              "why_not": null | "kernel lockdown forbids ...", "simulated": false },
 *    "window": { "index": 17, "length_s": 2.0, "missing": false, "why_missing": null, "next_in_s": 1.2 },
 *    "profile": { "name": "postgresql", "path": "...", "why": "command postgres is running" } | null,
 *    "class": { "name": "postgresql/24", "profile": "postgresql", "bucket": 24 | null, "windows": 40,
 *               "tests": 3, "accepts": 1, "rollbacks": 0, "gain_pct": 4.1 | null } | null,
 *    "load": { "value": 25.1 | null, "source": "runnable threads (schedstat)" },
 *    "objective": { "name": "postgresql", "measure": "service", "text": "...", "unit": "...", "proxy": false,
 *                   "state": "ok", "reason": "" , "help": "", "value": 123.4 | null, "incumbent": 121.0 | null,
 *                   "baseline": 118.0 | null, "tps": 456.7 | null, "noise_pct": 3.1 | null },
 *    "guards": [ { "metric": "runq_wait_ns", "unit": "...", "bound": "+25%", "value": 1.0 | null, "incumbent": 1.0 | null, "ok": true } ],
 *    "knobs": [ { "name": "migration_cost_ns", "what": "...", "path": "/sys/..." | null, "unit": "ns", "state": "ok",
 *                 "reason": "", "original": 500000 | null, "current": 500000 | null, "ours": null, "kernel_default": 500000 | null,
 *                 "min": 10000 | null, "max": 5000000 | null, "in_profile": true, "writes": 0,
 *                 "foreign": null | { "value": 700000, "when": 1764542191.0, "pid": 123 | null, "comm": "bash" | null,
 *                                           "unit": "ssh.service" | null } } ],
 *    "trial": null | { "kind": "test" | "check" | "joint", "knob": "migration_cost_ns", "incumbent": 500000, "candidate": 62500,
 *               "arm": "incumbent" | "candidate" | "settling", "position": 4, "length": 14,
 *               "quads": 2, "mean_pct": 1.2 | null, "lo_pct": .. | null, "hi_pct": .. | null, "e": 3.1 | null, "bar": 50 },
 *    "decisions": [ DECISION... newest first, at most 10 ],
 *    "counters": { "windows": 17, "missing": 1, "moves": 0, "writes": 0, "unrestored": 0, "debt_pct_windows": 0.0 },
 *    "sensors": [ { "name": "schedstat", "what": "...", "state": "ok", "reason": "" } ],
 *    "metrics": { "runq_wait_ns": 1.0 | null, ... },            // of the last window
 *    "store": { "path": "...", "state": "ok" | "unavailable", "reason": "" } }
 *
 *  DECISION: { "time": 1764542191.5, "window": 120, "class": "postgresql/24", "what": "accept" | "reject" | "abort" | "rollback" |
 *    "keep" | "trial" | "check" | "class" | "void" | "foreign" | "release" | "mode" | ..., "knob": "migration_cost_ns" | null,
 *    "old": 500000 | null, "new": 62500 | null, "reason": "evidence", "text": "one line for people",
 *    "n": 6 | null, "mean_pct": 4.3 | null, "se_pct": .. | null, "lo_pct", "hi_pct", "e", "bar": .. | null } */
#pragma once

struct control;

/* NUL-terminated JSON text, owned by the caller; NULL when memory is short. */
char *status_json(const struct control *c);
