/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration: what is printed reads back to the same. */
#include "config_fixture.h"

static void dump_to(const char *dir, const char *name, const struct config *c,
                    const struct profile *p)
{
    char path[200];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(p ? config_dump_profile(p, f) : config_dump(c, f), 0);
    assert_int_equal(fclose(f), 0);
}

static void test_round_trip(void **state)
{
    static const char *const dirs[] = { "tests/data/conf/full", "conf" };

    (void)state;
    for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
        struct config_error err;
        struct config *a = NULL, *b;
        char name[100];

        assert_int_equal(teardown(NULL), 0);
        assert_int_equal(setup(NULL), 0);
        assert_int_equal(config_load(NULL, source_path(dirs[i]), NULL, &a, &err), 0);
        dump_to(fx.local, "tunerd.conf", a, NULL);
        for (size_t j = 0; j < a->n_profiles; j++) {
            snprintf(name, sizeof name, "profiles/%s.conf", a->profiles[j].name);
            dump_to(fx.local, name, NULL, &a->profiles[j]);
        }
        b = load_ok();
        assert_same(a, b);
        config_free(a);
        config_free(b);
    }
}

/* Numbers that people do not write, but that must come back all the same. */
static void test_number_text(void **state)
{
    unsigned seed = (unsigned)strtoul(getenv("SEED") ? getenv("SEED") : "1", NULL, 10);

    (void)state;
    srand(seed);
    for (int i = 0; i < 20000; i++) {
        double v = (double)rand() / RAND_MAX * (i % 3 ? 1 : 1000), back = 0;
        struct option_why why;
        char text[64];

        assert_int_equal(value_number(format_number(text, sizeof text, v, 1), "", &back, &why), 0);
        if (back != v)
            fail_msg("%.17g read back from %s, seed %u", v, text, seed);
    }
}

static void test_dump_defaults(void **state)
{
    FILE *shipped = fopen(source_path("conf/tunerd.conf"), "re");
    char *text = NULL, file[40000], *line;
    size_t size = 0, n;
    FILE *f = open_memstream(&text, &size);
    struct config *a, *b;

    (void)state;
    assert_non_null(shipped);
    n = fread(file, 1, sizeof file - 1, shipped);
    file[n] = '\0';
    fclose(shipped);
    assert_int_equal(config_dump_defaults(f), 0);
    fclose(f);
    assert_string_equal(file, text); /* else: build/tunerd --dump-defaults > conf/tunerd.conf */
    /* As it is, it changes nothing; and with every default uncommented neither. */
    a = load_ok();
    put(fx.local, "tunerd.conf", text);
    b = load_ok();
    assert_same(a, b);
    config_free(b);
    for (line = text; (line = strstr(line, "\n#")); line++)
        if (line[2] != ' ')
            memmove(line + 1, line + 2, strlen(line + 2) + 1);
    put(fx.local, "tunerd.conf", text);
    b = load_ok();
    assert_same(a, b);
    config_free(a);
    config_free(b);
    free(text);
}

static void test_dump_full_disk(void **state)
{
    FILE *f = fopen("/dev/full", "we");
    struct config *c = load_ok();

    (void)state;
    assert_non_null(f);
    assert_int_equal(config_dump(c, f), -EIO);
    fclose(f);
    config_free(c);
}

/* Each row of the tables: its default is accepted, printed the same way, and the bounds are
 * accepted too. */
static void test_tables(void **state)
{
    struct config *c = calloc(1, sizeof *c);
    struct profile *p = calloc(1, sizeof *p);

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        const struct option *table = t ? profile_options : config_options;
        size_t n = t ? profile_options_size : config_options_size;

        for (size_t i = 0; i < n; i++) {
            char text[CONFIG_TEXT_MAX], *dots;
            struct option_why why = { "" };
            void *base = t ? (void *)p : (void *)c;

            assert_int_equal(option_set(&table[i], base, table[i].text, &why), 0);
            assert_string_equal(option_format(&table[i], base, text, sizeof text), table[i].text);
            assert_true(*table[i].help != '\0');
            option_range(&table[i], text, sizeof text);
            dots = strstr(text, " .. ");
            if (!dots)
                continue;
            *dots = '\0';
            assert_int_equal(option_set(&table[i], base, text, &why), 0);
            assert_int_equal(option_set(&table[i], base, dots + 4, &why), 0);
        }
    }
    free(c);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_round_trip),     T(test_number_text), T(test_dump_defaults),
        T(test_dump_full_disk), T(test_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
