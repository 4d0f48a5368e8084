/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cleanup attributes, whole-string parsers with units, and text for durations. No I/O, no logging. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NSEC_PER_SEC  UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))
#define TAKE_PTR(p)                                                                               \
    ({                                                                                            \
        __typeof__(p) *_pp = &(p);                                                                \
        __typeof__(p) _taken = *_pp;                                                              \
        *_pp = NULL;                                                                              \
        _taken;                                                                                   \
    })
#define TAKE_FD(fd)                                                                               \
    ({                                                                                            \
        int *_pfd = &(fd);                                                                        \
        int _taken = *_pfd;                                                                       \
        *_pfd = -1;                                                                               \
        _taken;                                                                                   \
    })

static inline void freep(void *p)
{
    free(*(void **)p);
}
static inline void closep(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}
static inline void fclosep(FILE **f)
{
    if (*f)
        (void)fclose(*f);
}
#define _cleanup_(f)     __attribute__((cleanup(f)))
#define _cleanup_free_   _cleanup_(freep)
#define _cleanup_close_  _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _printf_(a, b)   __attribute__((format(printf, a, b)))

/* Whole string, decimal only, no sign, no blanks. 0; -EINVAL (not a number), -ERANGE. */
int parse_u64(const char *s, uint64_t *ret);
/* Whole string, finite, '.' as the point whatever the locale. */
int parse_double(const char *s, double *ret);
/* "500us", "0.5ms", "2s", "5min", "1h", "14d" -> ns. A number without unit is refused (-EINVAL), but "0" is fine. */
int parse_duration_ns(const char *s, uint64_t *ret);
/* "yes/no/true/false/on/off/1/0". */
int parse_bool(const char *s, bool *ret);

/* Shortest exact text with a unit: "500us", "1.381ms", "2s". Returns buf. */
const char *format_duration_ns(char *buf, size_t size, uint64_t ns);

/* CLOCK_MONOTONIC and CLOCK_REALTIME, ns; the only clock reads outside of main loop sources. */
uint64_t now_mono_ns(void);
uint64_t now_real_ns(void);

/* A difference of natural logarithms as percent: 0.05 -> 5.1. */
double percent_of_ln(double ln);

/* Copies at most size - 1 bytes, always terminates; true when all of it fitted. */
bool copy_string(char *dst, size_t size, const char *src);
