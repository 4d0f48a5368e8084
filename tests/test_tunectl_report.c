/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plots of `tunectl report` from traces that are empty, damaged or hostile: never a crash, never a number that a
 * browser cannot draw, never text of others as markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What is tested is not in a library. */
#include "../tunectl/doc.c"
#include "../tunectl/history.c"
#include "../tunectl/report_draw.c"
#include "../tunectl/report_read.c"
#include "../tunectl/sentence.c"
#include "../tunectl/text.c"

static int read_text(struct report *r, const char *text)
{
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

    assert_non_null(f);
    int code = report_read(r, f);
    (void)fclose(f);
    return code;
}

static char *draw_all(const struct report *r)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    for (size_t i = 0; i < r->n_series; i++)
        report_draw(f, r, &r->series[i]);
    assert_int_equal(fclose(f), 0);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    return text;
}

#define HEAD "window,real_time,objective,load,workload,bucket,disturbed,event,reason,arm,migration_cost_ns,runq_wait_ns,tps\n"

static void test_read(void **unused)
{
    struct report r = { 0 };

    (void)unused;
    assert_int_equal(read_text(&r, HEAD "1,1000.5,12.5,3,pg,4,0,none,none,incumbent,500000,1000,99\n"
                                        "2,1010.5,,,pg,4,0,none,missing,incumbent,500000,,\n"
                                        "3,1005.5,7,1,pg,4,0,none,none,incumbent,1,1,1\n"
                                        "garbage\n"
                                        ",,,\n"
                                        "4,1020.5,13,3,pg,4,0,none,none,candidate,62500,1000,98"), 0);
    assert_int_equal(r.n, 3); /* the one that goes back in time is left out */
    assert_int_equal(r.n_series, 5);
    assert_string_equal(r.series[0].name, "objective");
    assert_string_equal(r.series[4].name, "migration_cost_ns");
    assert_true(r.series[4].is_knob);
    assert_true(r.series[0].value[0] == 12.5 && isnan(r.series[0].value[1]) && r.series[4].value[2] == 62500);
    char *text = draw_all(&r);
    assert_non_null(strstr(text, "migration_cost_ns</text>"));
    free(text);
    report_done(&r);
}

static void test_nothing(void **unused)
{
    static const char *const texts[] = { "\n", HEAD, "a,b,c\n1,2,3\n", "real_time\n5\n6\n", HEAD "1,1,nan,inf\n2,2,1e400,-\n" };

    (void)unused;
    for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
        struct report r = { 0 };
        (void)read_text(&r, texts[i]);
        char *text = draw_all(&r);
        assert_string_equal(text, "");
        free(text);
        report_done(&r);
    }
}

static void test_extremes(void **unused)
{
    struct report r = { 0 };

    (void)unused;
    /* One window, constants, zeros and negatives on a log scale, the ends of double. */
    assert_int_equal(read_text(&r, HEAD "1,0,0,0,,,,,,,0,0,0\n"), 0);
    free(draw_all(&r));
    report_done(&r);
    assert_int_equal(read_text(&r, HEAD "1,1,1e308,5,,,,,,,-1,0,1\n2,2,-1e308,5,,,,,,,1,0,1\n3,1e300,1,5,,,,,,,1e308,0,1\n"), 0);
    assert_int_equal(r.n, 3);
    free(draw_all(&r));
    report_done(&r);
}

/* Longer than a line may be, and more windows than the first allocation holds. */
static void test_long(void **unused)
{
    struct report r = { 0 };
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    (void)unused;
    (void)fputs(HEAD, f);
    for (int i = 0; i < 10000; i++)
        (void)fprintf(f, "%d,%d,%d,1,,,,,,,%d,1,1\n", i, i, i % 7, 10000 << (i / 1000));
    (void)fprintf(f, "1,20000,%0*d\n", 40000, 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(read_text(&r, text), 0);
    assert_true(r.n >= 10000);
    free(text);
    text = draw_all(&r);
    /* As many points as the panel has columns, not as there are windows. */
    assert_true(strlen(text) < 100000);
    free(text);
    report_done(&r);
}

static void test_marks_are_escaped(void **unused)
{
    struct report r = { 0 };

    (void)unused;
    assert_int_equal(read_text(&r, HEAD "1,1,1,1,,,,,,,1,1,1\n2,9,2,1,,,,,,,2,1,1\n"), 0);
    r.mark = calloc(1, sizeof *r.mark);
    r.n_marks = 1;
    *r.mark = (struct store_decision){ .real_ns = 5 * NSEC_PER_SEC, .profile = "<script>&\"", .event = "accept", .reason = "\033<b>",
                                       .old_value = NAN, .new_value = INFINITY };
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    report_draw(f, &r, &r.series[0]);
    assert_int_equal(fclose(f), 0);
    assert_null(strstr(text, "<script>"));
    assert_null(strstr(text, "<b>"));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "&lt;script&gt;&amp;&quot;"));
    free(text);
    report_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read), cmocka_unit_test(test_nothing),           cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_long), cmocka_unit_test(test_marks_are_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
