#include "cli/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "io/json_text.h"

void cli_json_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

int cli_json_print(json_t *object)
{
    return cli_json_print_digits(object, CLI_DIGITS);
}

int cli_json_print_digits(json_t *object, int digits)
{
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
    sal_status status = sali_json_write(object, JSON_REAL_PRECISION(digits), path, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}
