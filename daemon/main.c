/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options, the loop, and the only exit. */
#include "control.h"
#include "log.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "unitjob.h"

enum { EXIT_CONFIG = 2 }; /* RestartPreventExitStatus= of the unit */

enum option_id { OPT_ROOT = 256, OPT_CONFIG, OPT_CONFIG_DIR, OPT_RUNTIME, OPT_STATE, OPT_DUMP, OPT_DEFAULTS, OPT_CHECK, OPT_PATHS,
                 OPT_WHY_NOT, OPT_VERSION, OPT_HELP, OPT_DEBUG };

static const struct option options[] = {
    { "root", required_argument, NULL, OPT_ROOT },
    { "config", required_argument, NULL, OPT_CONFIG },
    { "config-dir", required_argument, NULL, OPT_CONFIG_DIR },
    { "runtime-dir", required_argument, NULL, OPT_RUNTIME },
    { "state-dir", required_argument, NULL, OPT_STATE },
    { "dump-config", no_argument, NULL, OPT_DUMP },
    { "dump-defaults", no_argument, NULL, OPT_DEFAULTS },
    { "check-config", no_argument, NULL, OPT_CHECK },
    { "print-write-paths", no_argument, NULL, OPT_PATHS },
    { "why-not", no_argument, NULL, OPT_WHY_NOT },
    { "debug", no_argument, NULL, OPT_DEBUG },
    { "version", no_argument, NULL, OPT_VERSION },
    { "help", no_argument, NULL, OPT_HELP },
    { 0 },
};

static const char help[] =
    "tunerd - tunes the scheduler's knobs by closed-loop feedback\n"
    "\n"
    "  --root DIR            work on a tree of /proc and /sys files below DIR\n"
    "  --config FILE         read FILE in place of the installed tunerd.conf\n"
    "  --config-dir DIR      read tunerd.conf and profiles/ from DIR, nothing from the installed places\n"
    "  --runtime-dir DIR     journal, lock and mode (/run/tunerd)\n"
    "  --state-dir DIR       what was learned (/var/lib/tunerd)\n"
    "  --check-config        read the configuration, say what is wrong, leave (0, or 2)\n"
    "  --dump-config         print the configuration in force as a file, leave\n"
    "  --dump-defaults       print the commented default configuration, leave\n"
    "  --print-write-paths   print the paths that a service unit must leave writable, leave\n"
    "  --why-not             say in one sentence whether this host's knobs can be written, leave (0, or 1)\n"
    "  --debug               log more\n"
    "  --version, --help\n"
    "\n"
    "Exit status: 0 stopped, 1 error, 2 usage or configuration. See tunerd(8), tunectl(1).\n";

struct arguments {
    struct control_paths paths;
    int action; /* enum option_id; 0: run */
    int log_level;
};

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
    *a = (struct arguments){ .paths = { .root = "/", .vendor_dir = CONFIG_VENDOR_DIR, .local_dir = CONFIG_LOCAL_DIR,
                                        .runtime_dir = "/run/tunerd", .state_dir = "/var/lib/tunerd" },
                             .log_level = LOG_INFO };
    for (;;) {
        int o = getopt_long(argc, argv, "", options, NULL);
        if (o == -1)
            break;
        switch (o) {
        case OPT_ROOT:
            a->paths.root = optarg;
            break;
        case OPT_CONFIG:
            a->paths.config_file = optarg;
            break;
        case OPT_CONFIG_DIR:
            a->paths.vendor_dir = optarg;
            a->paths.local_dir = NULL;
            break;
        case OPT_RUNTIME:
            a->paths.runtime_dir = optarg;
            break;
        case OPT_STATE:
            a->paths.state_dir = optarg;
            break;
        case OPT_DEBUG:
            a->log_level = LOG_DEBUG;
            break;
        case '?':
            return -EINVAL;
        default:
            a->action = o;
        }
    }
    if (optind < argc) {
        (void)fprintf(stderr, "tunerd: unexpected argument %s; see --help\n", argv[optind]);
        return -EINVAL;
    }
    return 0;
}

static int why_not(const char *root)
{
    struct sysio io;
    struct undo *undo = calloc(1, sizeof *undo);
    struct knobs *ks = calloc(1, sizeof *ks);
    char why[256] = "";
    int r = undo && ks ? sysio_init(&io, root) : -ENOMEM;

    if (r >= 0) {
        knobs_init(ks, &io, undo, true);
        r = knobs_why_not(ks, &io, why, sizeof why);
        (void)puts(*why ? why : "the knobs of this host can be written");
        sysio_done(&io);
    }
    free(ks);
    free(undo);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int show_config(const struct arguments *a)
{
    struct config *config = NULL;
    struct config_error err = { "" };
    int r = config_load(a->paths.vendor_dir, a->paths.local_dir, a->paths.config_file, &config, &err);

    if (r < 0) {
        (void)fprintf(stderr, "tunerd: %s\n", err.text);
        return EXIT_CONFIG;
    }
    if (a->action == OPT_DUMP)
        r = config_dump(config, stdout);
    (void)config_free(config);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int act(const struct arguments *a)
{
    switch (a->action) {
    case OPT_DUMP:
    case OPT_CHECK:
        return show_config(a);
    case OPT_DEFAULTS:
        return config_dump_defaults(stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    case OPT_PATHS:
        knobs_print_write_paths(stdout);
        return EXIT_SUCCESS;
    case OPT_WHY_NOT:
        return why_not(a->paths.root);
    case OPT_VERSION:
        (void)puts("tunerd " TUNERD_VERSION);
        return EXIT_SUCCESS;
    default:
        (void)fputs(help, stdout);
        return EXIT_SUCCESS;
    }
}

static int on_hangup(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    struct config_error err;

    (void)s;
    (void)si;
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lu", now_mono_ns() / NSEC_PER_USEC);
    (void)control_reload(userdata, &err);
    (void)sd_notify(0, "READY=1");
    return 0;
}

static int on_stop(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    (void)userdata;
    log_msg(LOG_NOTICE, "stopping on %s", si->ssi_signo == SIGINT ? "SIGINT" : "SIGTERM");
    return sd_event_exit(sd_event_source_get_event(s), 0);
}

static int prepare_loop(sd_event *event, struct control *c)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    (void)signal(SIGPIPE, SIG_IGN);
    int r = sd_event_add_signal(event, NULL, SIGTERM, on_stop, c);
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGINT, on_stop, c);
    if (r >= 0)
        r = sd_event_add_signal(event, NULL, SIGHUP, on_hangup, c);
    if (r >= 0)
        r = sd_event_set_watchdog(event, true);
    return r;
}

static int run(const struct arguments *a)
{
    sd_event *event = NULL;
    struct control *c = calloc(1, sizeof *c);
    struct config_error err = { "" };
    int r = c ? sd_event_new(&event) : -ENOMEM;

    if (r < 0) {
        free(c);
        return EXIT_FAILURE;
    }
    r = prepare_loop(event, c);
    if (r >= 0)
        r = control_init(c, &a->paths, event, &err);
    if (r >= 0)
        r = control_start(c);
    if (r >= 0) {
        (void)sd_notifyf(0, "READY=1\nSTATUS=mode %s", mode_name(control_mode(c)));
        r = sd_event_loop(event);
        (void)sd_notify(0, "STOPPING=1");
    } else if (*err.text) {
        log_msg(LOG_ERR, "%s", err.text);
    } else {
        (void)log_errno(LOG_ERR, r, "cannot start: %m");
    }
    control_done(c, r >= 0 && unit_is_restarting());
    event = sd_event_unref(event);
    free(c);
    return *err.text ? EXIT_CONFIG : r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct arguments a;

    if (parse_arguments(argc, argv, &a) < 0)
        return EXIT_CONFIG;
    log_init(a.log_level);
    return a.action ? act(&a) : run(&a);
}
