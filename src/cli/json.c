/* SPDX-License-Identifier: MIT */
#include "cli/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

json_t *cli_json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string) {
        return string;
    }
    size_t length = 0;
    char *ascii = malloc(3 * strlen(text) + 1);
    for (; ascii && *text; text++) { /* bytes beyond ASCII become U+FFFD */
        bool plain = (unsigned char)*text < 128;
        memcpy(ascii + length, plain ? text : "\xEF\xBF\xBD", plain ? 1 : 3);
        length += plain ? 1 : 3;
    }
    string = ascii ? json_stringn(ascii, length) : NULL;
    free(ascii);
    return string;
}

void cli_json_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key,
                        isfinite(value) ? json_real(value)
                        : isnan(value)  ? json_null()
                                        : json_string(value > 0 ? "inf" : "-inf"));
}

json_t *cli_json_take(char *text)
{
    json_t *object = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    sal_free(text);
    return object;
}

/* The "remarks" of the object that is printed, an array of texts; NULL: none. */
static json_t *remarks;

bool cli_json_remark(const char *text)
{
    for (size_t k = 0; k < json_array_size(remarks); k++) {
        const char *earlier = json_string_value(json_array_get(remarks, k));
        if (earlier && strcmp(earlier, text) == 0) {
            return false;
        }
    }
    remarks = remarks ? remarks : json_array();
    json_array_append_new(remarks, cli_json_text(text));
    return true;
}

int cli_json_print(json_t *object)
{
    return cli_json_print_digits(object, CLI_DIGITS);
}

int cli_json_print_digits(json_t *object, int digits)
{
    if (json_array_size(remarks) > 0) {
        json_object_set(object, "remarks", remarks);
    }
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(digits)) : NULL;
    json_decref(object);
    if (!text) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    bool ok = puts(text) >= 0;
    free(text);
    return ok ? CLI_OK : CLI_IO;
}

int cli_json_save(json_t *object, int digits, const char *path)
{
    sal_error err = { 0 };
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(digits)) : NULL;
    json_decref(object);
    sal_status status =
        text ? sal_file_write(path, text, (int64_t)strlen(text), &err) : SAL_ERR_MEMORY;
    free(text);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}
