/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a JSON document that may lack anything: each question has an answer, whatever is there.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/* All borrow from doc and take NULL, missing members and wrong types for "not known". */
struct json_object *doc_get(struct json_object *doc, const char *key);    /* NULL: none, or null */
struct json_object *doc_object(struct json_object *doc, const char *key); /* NULL: no object */
const char *doc_text(struct json_object *doc, const char *key, const char *otherwise);
double doc_number(struct json_object *doc, const char *key); /* NaN */
bool doc_bool(struct json_object *doc, const char *key);     /* false */
size_t doc_length(struct json_object *doc, const char *key); /* members of an array; 0 */
struct json_object *doc_at(struct json_object *doc, const char *key, size_t i); /* NULL */

/* NULL when text is no JSON object. Owned by the caller (json_object_put). */
struct json_object *doc_parse(const char *text);
/* Adds `value`, or null when it is not finite. */
void doc_add_number(struct json_object *doc, const char *key, double value);
void doc_add_text(struct json_object *doc, const char *key, const char *value); /* NULL: null */

static inline void doc_putp(struct json_object **p)
{
    if (*p)
        (void)json_object_put(*p);
}
#define _cleanup_doc_ __attribute__((cleanup(doc_putp)))

/* Prints doc to stdout and a newline. */
void doc_print(struct json_object *doc);
