/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration: what is refused, and with which words. */
#include "config_fixture.h"

/* \n, \r, \t and \xHH of the case files. */
static size_t decode(const char *from, size_t n, char *to)
{
    static const char names[] = "nrt", bytes[] = "\n\r\t";
    char *begin = to;

    for (const char *p = from; p < from + n; p++) {
        const char *which = *p == '\\' && p + 1 < from + n ? strchr(names, p[1]) : NULL;
        unsigned byte;

        if (which) {
            *to++ = bytes[which - names];
            p++;
        } else if (*p == '\\' && sscanf(p, "\\x%2x", &byte) == 1) {
            *to++ = (char)byte;
            p += 3;
        } else {
            *to++ = *p;
        }
    }
    *to = '\0';
    return (size_t)(to - begin);
}

static void run_cases(const char *cases, const char *name, size_t at_least)
{
    FILE *f = fopen(source_path(cases), "re");
    char line[1000], text[1000], want[1100];
    size_t n = 0;

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *arrow = strstr(line, " => ");

        if (!arrow)
            continue;
        line[strcspn(line, "\n")] = '\0';
        put_bytes(fx.local, name, text, decode(line, (size_t)(arrow - line), text));
        snprintf(want, sizeof want, "@/local/%s:%s", name, arrow + 4);
        load_fails(-EINVAL, want);
        n++;
    }
    fclose(f);
    assert_true(n >= at_least);
}

static void test_bad_main(void **state)
{
    (void)state;
    run_cases("tests/data/conf/bad_main.txt", "tunerd.conf", 60);
}

static void test_bad_profile(void **state)
{
    (void)state;
    run_cases("tests/data/conf/bad_profile.txt", "profiles/x.conf", 25);
}

static void test_profile_missing(void **state)
{
    (void)state;
    put(fx.vendor, "tunerd.conf", "[control]\nprofile = postgres\n");
    put(fx.local, "tunerd.conf", "[control]\nseed = 3\n");
    put(fx.vendor, "profiles/postgresql.conf", "[profile]\npriority = 5\n");
    load_fails(-EINVAL, "@/vendor/tunerd.conf:2: [control] profile: there is no profile "
                        "'postgres'; did you mean 'postgresql'?");
    /* An empty file of the administrator takes the vendor's profile away. */
    put(fx.local, "tunerd.conf", "[control]\nprofile = postgresql\n");
    put(fx.local, "profiles/postgresql.conf", "# not here\n");
    load_fails(-EINVAL, "@/local/tunerd.conf:2: [control] profile: there is no profile "
                        "'postgresql'; install one or write auto");
}

static void test_lines(void **state)
{
    char text[1000] = "[profile]\ndescription = ";
    size_t begin = strlen(text) - strlen("description = "), n = begin + 197;
    struct config *c;

    (void)state;
    /* 197 bytes are read whole; 198 are refused. */
    memset(text + strlen(text), 'x', sizeof text - strlen(text));
    text[n] = '\n';
    put_bytes(fx.local, "profiles/x.conf", text, n + 1);
    c = load_ok();
    assert_int_equal(strlen(c->profiles[0].description), 197 - strlen("description = "));
    config_free(c);
    put_bytes(fx.local, "profiles/x.conf", text, n); /* no newline at the end */
    config_free(load_ok());
    memcpy(text + n, "\r\n", 2); /* nor does the carriage return count */
    put_bytes(fx.local, "profiles/x.conf", text, n + 2);
    config_free(load_ok());
    memset(text + n, 'x', sizeof text - n);
    for (size_t more = 1; more < 20; more++) {
        text[n + more] = '\n';
        put_bytes(fx.local, "profiles/x.conf", text, n + more + 1);
        load_fails(-EINVAL,
                   "@/local/profiles/x.conf:2: [profile]: line of more than 197 bytes; shorten it");
        text[n + more] = 'x';
    }
    put_bytes(fx.local, "profiles/x.conf", text, sizeof text);
    load_fails(-EINVAL,
               "@/local/profiles/x.conf:2: [profile]: line of more than 197 bytes; shorten it");
    text[begin] =
        '#'; /* a comment may have any length, and what follows is not read as a line of its own */
    memcpy(text + begin + 200, "[nonsense]", 10);
    put_bytes(fx.local, "profiles/x.conf", text, sizeof text);
    config_free(load_ok());
}

static void test_bytes(void **state)
{
    static const char nul[] = "[control]\nmode = tu\0ne\n";
    static const char nul_comment[] = "# \0\n";
    struct config *c;

    (void)state;
    put_bytes(fx.local, "tunerd.conf", nul, sizeof nul - 1);
    load_fails(
        -EINVAL,
        "@/local/tunerd.conf:2: [control]: NUL byte; this is not a text file: write it anew");
    put_bytes(fx.local, "tunerd.conf", nul_comment, sizeof nul_comment - 1);
    load_fails(-EINVAL, "@/local/tunerd.conf:1: NUL byte; this is not a text file: write it anew");
    put(fx.local, "tunerd.conf", "");
    config_free(load_ok());
    put(fx.local, "tunerd.conf",
        "\xef\xbb\xbf[control]\r\nmode = tune ; not observe\r\n\r\n  # indented = comment\r\n  "
        "\t\r\n"
        "; x\r\nwindow=2s\r\n[policy] ; comment");
    c = load_ok();
    assert_int_equal(c->mode, MODE_TUNE);
    assert_int_equal(c->window_ns, 2 * NSEC_PER_SEC);
    config_free(c);
}

static void test_files(void **state)
{
    char path[200];
    struct config_error err;
    struct config *c = NULL;

    (void)state;
    snprintf(path, sizeof path, "%s/tunerd.conf", fx.local);
    assert_int_equal(mkdir(path, 0755), 0);
    load_fails(-EISDIR, "@/local/tunerd.conf: is not a file; put a text file there or remove it");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0644), 0);
    load_fails(-EINVAL, "@/local/tunerd.conf: is not a file; put a text file there or remove it");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("tunerd.conf", path), 0);
    load_fails(-ELOOP, "@/local/tunerd.conf: cannot be read: Too many levels of symbolic links; "
                       "see its owner and mode");
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/x", fx.dir);
    assert_int_equal(config_load(fx.vendor, fx.local, path, &c, &err), -ENOENT);
    assert_non_null(
        strstr(err.text, "/x: cannot be read: No such file or directory; see the path"));
    /* A file of one's own stands for both tunerd.conf; profiles are read as ever. */
    put(fx.vendor, "tunerd.conf", "nonsense");
    put(fx.vendor, "profiles/p.conf", "[profile]\n");
    put(fx.dir, "x", "[control]\nseed = 7\n");
    assert_int_equal(config_load(fx.vendor, fx.local, path, &c, &err), 0);
    assert_int_equal(c->seed, 7);
    assert_string_equal(c->path, path);
    assert_int_equal(c->n_profiles, 1);
    config_free(c);
    assert_int_equal(config_load(NULL, NULL, NULL, &c, &err), 0);
    config_free(c);
}

static void test_unreadable(void **state)
{
    char path[200];

    (void)state;
    if (geteuid() == 0)
        skip(); /* root reads everything */
    put(fx.local, "tunerd.conf", "");
    snprintf(path, sizeof path, "%s/tunerd.conf", fx.local);
    assert_int_equal(chmod(path, 0), 0);
    load_fails(-EACCES,
               "@/local/tunerd.conf: cannot be read: Permission denied; see its owner and mode");
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/profiles", fx.vendor);
    assert_int_equal(chmod(path, 0), 0);
    load_fails(-EACCES,
               "@/vendor/profiles: cannot be read: Permission denied; see its owner and mode");
    assert_int_equal(chmod(path, 0755), 0);
}

static void test_limits_cut(void **state)
{
    (void)state;
    put(fx.local, "tunerd.conf", "[limits]\nmigration_cost_ns = 1ms .. 2ms\n");
    put(fx.vendor, "profiles/p.conf", "[knobs]\nmigration_cost_ns = 100us .. 500us\n");
    load_fails(-EINVAL, "@/vendor/profiles/p.conf:2: [knobs] migration_cost_ns: 100us .. 500us "
                        "lies outside of 1ms .. 2ms of "
                        "[limits] in @/local/tunerd.conf:2; change one of them");
}

static void test_many_profiles(void **state)
{
    char name[40];

    (void)state;
    for (int i = 0; i < CONFIG_PROFILES_MAX; i++) {
        snprintf(name, sizeof name, "profiles/p%02d.conf", i);
        put(fx.vendor, name, "[profile]\n");
    }
    config_free(load_ok());
    put(fx.local, "profiles/zz.conf", "[profile]\n");
    load_fails(-EINVAL, "@/vendor/profiles/p31.conf: more than 32 profiles; remove one");
}

static void test_trust(void **state)
{
    struct stat st = { .st_uid = 0, .st_mode = S_IFREG | 0644 };

    (void)state;
    assert_null(config_distrust(&st));
    st.st_mode = S_IFDIR | 0755;
    assert_null(config_distrust(&st));
    st.st_mode = S_IFREG | 0664;
    assert_string_equal(config_distrust(&st), "can be written by others than root; chmod go-w");
    st.st_mode = S_IFREG | 0646;
    assert_non_null(config_distrust(&st));
    st.st_mode = S_IFREG | 0644;
    st.st_uid = 1000;
    assert_string_equal(config_distrust(&st), "does not belong to root; chown root");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_bad_main),      T(test_bad_profile), T(test_profile_missing), T(test_lines),
        T(test_bytes),         T(test_files),       T(test_unreadable),      T(test_limits_cut),
        T(test_many_profiles), T(test_trust),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
