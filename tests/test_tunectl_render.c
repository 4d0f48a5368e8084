/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status screen from documents that lack members, hold other types, or come from somebody hostile: it must never
 * fail, never send a control character to the terminal, and never leave the screen's width in its own lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What is tested is not in a library. */
#include "../tunectl/doc.c"
#include "../tunectl/render.c"
#include "../tunectl/render_knobs.c"
#include "../tunectl/text.c"

static const char *const names[] = { "observe",     "trial",        "check",   "foreign",
                                     "unsupported", "no_objective", "refused", "proxy",   "long" };

static uint64_t state;
static uint64_t draw(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

static struct json_object *load(const char *name)
{
    char path[4096];
    const char *src = getenv("SRC");

    (void)snprintf(path, sizeof path, "%s/tests/data/status/%s.json", src ? src : ".", name);
    struct json_object *doc = json_object_from_file(path);
    assert_non_null(doc);
    return doc;
}

static char *render(struct json_object *doc, size_t width)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    struct render r = { .out = f, .width = width };

    assert_non_null(f);
    render_status(&r, doc);
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 ? text[i] != '\n' : text[i] == 0x7f)
            fail_msg("control character %#x at %zu", text[i], i);
    return text;
}

static struct json_object *other_type(uint64_t kind)
{
    switch (kind) {
    case 0:
        return NULL;
    case 1:
        return json_object_new_string("\033[2J\xff\xfe text \n\r\b%s%n");
    case 2:
        return json_object_new_int64(INT64_MIN);
    case 3:
        return json_object_new_double(1e308);
    case 4:
        return json_object_new_double(NAN);
    case 5:
        return json_object_new_boolean(true);
    case 6:
        return json_object_new_array();
    case 7:
        return json_object_new_object();
    default:
        return json_object_new_string("");
    }
}
enum { OTHER_TYPES = 9 };

/* Every member at every depth in turn is taken out or becomes something else. */
static size_t mutate_each(struct json_object *doc, struct json_object *at)
{
    size_t n = 0;
    struct lh_entry *e = json_object_is_type(at, json_type_object) ? json_object_get_object(at)->head : NULL;

    for (; e; e = e->next) {
        struct json_object *was = lh_entry_v(e);
        for (uint64_t kind = 0; kind < OTHER_TYPES; kind++) {
            struct json_object *v = other_type(kind);
            e->v = v;
            free(render(doc, 80));
            e->v = was;
            json_object_put(v);
            n++;
        }
        n += mutate_each(doc, was);

    }
    for (size_t i = 0; json_object_is_type(at, json_type_array) && i < json_object_array_length(at); i++)
        n += mutate_each(doc, json_object_array_get_idx(at, i));
    return n;
}

static void test_each_member(void **unused)
{
    size_t n = 0;

    (void)unused;
    for (size_t i = 0; i < ELEMENTSOF(names) - 1; i++) {
        struct json_object *doc = load(names[i]);
        n += mutate_each(doc, doc);
        json_object_put(doc);
    }
    assert_true(n > 4000);
}

/* Bytes of the text of a document are changed: whatever still is a document must be shown. */
static void test_random_bytes(void **unused)
{
    size_t shown = 0;

    (void)unused;
    for (size_t i = 0; i < ELEMENTSOF(names) - 1; i++) {
        struct json_object *doc = load(names[i]);
        const char *text = json_object_to_json_string(doc);
        size_t length = strlen(text);
        for (size_t round = 0; round < 300; round++) {
            char *copy = strdup(text);
            for (uint64_t k = draw(6) + 1; k > 0; k--)
                copy[draw(length)] = (char)(draw(255) + 1);
            struct json_object *m = doc_parse(copy);
            if (m) {
                free(render(m, 80));
                json_object_put(m);
                shown++;
            }
            free(copy);
        }
        json_object_put(doc);
    }
    assert_true(shown > 100);
}

static void test_no_document(void **unused)
{
    (void)unused;
    free(render(NULL, 80));
    struct json_object *empty = json_object_new_object();
    free(render(empty, 80));
    json_object_put(empty);
    assert_null(doc_parse(""));
    assert_null(doc_parse("[1]"));
    assert_null(doc_parse("{"));
    /* Deeper than any document of ours. */
    char *deep = malloc(200001);
    memset(deep, '[', 200000);
    deep[200000] = '\0';
    assert_null(doc_parse(deep));
    free(deep);
}

static void test_width(void **unused)
{
    (void)unused;
    for (size_t width = 60; width <= 200; width += 20) {
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
            struct json_object *doc = load(names[i]);
            char *text = render(doc, width);
            for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
                *end = '\0';
                /* Set-up lines are to be copied: not wrapped. */
                if (strncmp(line, "             ", 13) != 0 && columns_of(line, strlen(line)) > width)
                    fail_msg("%s at %zu columns: %s", names[i], width, line);
            }
            free(text);
            json_object_put(doc);
        }
    }
}

/* What people see first fits on one screen. */
static void test_height(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ELEMENTSOF(names) - 1; i++) {
        struct json_object *doc = load(names[i]);
        char *text = render(doc, 80);
        size_t lines = 0;
        for (const char *p = text; *p; p++)
            lines += *p == '\n';
        if (lines > 40)
            fail_msg("%s: %zu lines", names[i], lines);
        free(text);
        json_object_put(doc);
    }
}

static void check_value(double v, const char *unit, const char *want)
{
    char buf[TEXT_SHORT];

    assert_string_equal(text_value(buf, sizeof buf, v, unit), want);
}

static void test_values(void **unused)
{
    char buf[TEXT_SHORT];

    (void)unused;
    check_value(500000, "ns", "500us");
    check_value(1381234, "ns", "1.38ms");
    check_value(1385000, "ns", "1.39ms");
    check_value(999999, "ns", "1ms");
    check_value(0, "ns", "0");
    check_value(1, "ns", "1ns");
    check_value(4294967295.0, "ns", "4.29s");
    check_value(32, "tasks", "32");
    check_value(NAN, "ns", "-");
    check_value(-1, "ns", "-1");
    check_value(1e300, "ns", "1e+300");
    assert_string_equal(text_number(buf, sizeof buf, 123.44), "123.4");
    assert_string_equal(text_number(buf, sizeof buf, 0), "0");
    assert_string_equal(text_number(buf, sizeof buf, 1000), "1000");
    assert_string_equal(text_number(buf, sizeof buf, 9.9999), "10");
    assert_string_equal(text_number(buf, sizeof buf, -0.25), "-0.25");
    assert_string_equal(text_number(buf, sizeof buf, 1.5e12), "1.5e+12");
    assert_string_equal(text_short(buf, sizeof buf, 3.14159), "3.1");
    assert_string_equal(text_short(buf, sizeof buf, 15910.2), "16000");
    assert_string_equal(text_short(buf, sizeof buf, 50), "50");
    assert_string_equal(text_short(buf, sizeof buf, 0.238), "0.24");
    assert_string_equal(text_short(buf, sizeof buf, 0), "0");
    assert_string_equal(text_short(buf, sizeof buf, NAN), "-");
    assert_string_equal(text_percent(buf, sizeof buf, 4.06), "+4.1 %");
    assert_string_equal(text_percent(buf, sizeof buf, NAN), "-");
    (void)setenv("TZ", "UTC", 1);
    assert_string_equal(text_time(buf, sizeof buf, 1764542191.5), "11-30 22:36:31");
    assert_string_equal(text_time(buf, sizeof buf, -1), "-");
    assert_string_equal(text_time(buf, sizeof buf, 1e300), "-");
}

static void test_clean(void **unused)
{
    char buf[64], tiny[8];

    (void)unused;
    assert_string_equal(text_clean(buf, sizeof buf, "a\033[1mb\n\x7f", 60), "a?[1mb??");
    assert_string_equal(text_clean(buf, sizeof buf, "k\xc3\xa4se \xff\xc0\x80 \xe2\x80\xae", 60), "k\xc3\xa4se ?\?\? ?\?\?");
    assert_string_equal(text_clean(buf, sizeof buf, "0123456789", 8), "01234...");
    assert_string_equal(text_clean(buf, sizeof buf, "01234567", 8), "01234567");
    assert_string_equal(text_clean(buf, sizeof buf, "\xf0\x9f\x98", 8), "???");
    (void)text_clean(tiny, sizeof tiny, "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 8);
    assert_true(strlen(tiny) < sizeof tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_clean),
        cmocka_unit_test(test_no_document),  cmocka_unit_test(test_each_member),
        cmocka_unit_test(test_random_bytes), cmocka_unit_test(test_width),
        cmocka_unit_test(test_height),
    };
    const char *seed = getenv("SEED");

    state = seed ? strtoull(seed, NULL, 10) : 1;
    printf("# seed %lu\n", state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
