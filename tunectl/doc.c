/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and making JSON documents with json-c. Knows no member's meaning. */
#include "doc.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct json_object *doc_get(struct json_object *doc, const char *key)
{
    struct json_object *v = NULL;

    if (!json_object_is_type(doc, json_type_object))
        return NULL;
    return json_object_object_get_ex(doc, key, &v) ? v : NULL;
}

struct json_object *doc_object(struct json_object *doc, const char *key)
{
    struct json_object *v = doc_get(doc, key);

    return json_object_is_type(v, json_type_object) ? v : NULL;
}

const char *doc_text(struct json_object *doc, const char *key, const char *otherwise)
{
    struct json_object *v = doc_get(doc, key);

    return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : otherwise;
}

double doc_number(struct json_object *doc, const char *key)
{
    struct json_object *v = doc_get(doc, key);

    if (!json_object_is_type(v, json_type_int) && !json_object_is_type(v, json_type_double))
        return NAN;
    double n = json_object_get_double(v);
    return isfinite(n) ? n : NAN;
}

bool doc_bool(struct json_object *doc, const char *key)
{
    struct json_object *v = doc_get(doc, key);

    return json_object_is_type(v, json_type_boolean) && json_object_get_boolean(v);
}

size_t doc_length(struct json_object *doc, const char *key)
{
    struct json_object *v = doc_get(doc, key);

    return json_object_is_type(v, json_type_array) ? json_object_array_length(v) : 0;
}

struct json_object *doc_at(struct json_object *doc, const char *key, size_t i)
{
    return i < doc_length(doc, key) ? json_object_array_get_idx(doc_get(doc, key), i) : NULL;
}

struct json_object *doc_parse(const char *text)
{
    struct json_tokener *t = json_tokener_new();
    struct json_object *doc = NULL;
    size_t n = strlen(text);

    if (t && n < INT_MAX) {
        json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
        doc = json_tokener_parse_ex(t, text, (int)n);
        size_t end = json_tokener_get_parse_end(t);
        if (doc && text[end + strspn(text + end, " \t\r\n")] != '\0') {
            (void)json_object_put(doc);
            doc = NULL;
        }
    }
    if (t)
        json_tokener_free(t);
    if (json_object_is_type(doc, json_type_object))
        return doc;
    if (doc)
        (void)json_object_put(doc);
    return NULL;
}

void doc_add_number(struct json_object *doc, const char *key, double value)
{
    struct json_object *v = NULL;

    /* Whole numbers stay whole: a knob of 500000 is not 500000.0. */
    if (isfinite(value) && value == floor(value) && fabs(value) < 9e15)
        v = json_object_new_int64((int64_t)value);
    else if (isfinite(value))
        v = json_object_new_double(value);
    (void)json_object_object_add(doc, key, v);
}

void doc_add_text(struct json_object *doc, const char *key, const char *value)
{
    (void)json_object_object_add(doc, key, value ? json_object_new_string(value) : NULL);
}

void doc_print(struct json_object *doc)
{
    const char *text = json_object_to_json_string_ext(
        doc, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);

    (void)printf("%s\n", text ? text : "{}");
}
