/* Plain text: UTF-8 without NUL bytes. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/utf8.h"
#include "io/file.h"
#include "io/format.h"

/* Far above any document. */
#define MOST_BYTES ((int64_t)1 << 26)

/* Fail at the first byte that is not text. */
static sal_status check_bytes(const char *name, const char *data, int64_t size, sal_error *err)
{
    const char *at = data, *end = data + size;
    int64_t line = 1;
    while (at < end) {
        const char *byte = at;
        int32_t code = sali_utf8_next(&at, end);
        if (code <= 0) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s:%lld: the byte 0x%02x %s; expected plain text in UTF-8", name,
                             (long long)line, (unsigned)(unsigned char)*byte,
                             code == 0 ? "is no text" : "is not UTF-8");
        }
        line += code == '\n';
    }
    return SAL_OK;
}

static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        data += 3;
        size -= 3;
    }
    if (size < 1 || size > MOST_BYTES) {
        return sali_fail(err, SAL_ERR_DATA, "%s: %lld bytes of text; expected 1 to %lld", name,
                         (long long)size, (long long)MOST_BYTES);
    }
    sal_status status = check_bytes(name, data, size, err);
    if (status != SAL_OK) {
        return status;
    }
    char *copy = sali_alloc(size + 1, 1);
    if (!copy) {
        return sali_fail_memory(err);
    }
    memcpy(copy, data, (size_t)size);
    *out = (sali_content){ .kind = SALI_CONTENT_TEXT, .text = { .data = copy, .size = size } };
    return SAL_OK;
}

static sal_status write(const char *path, const sali_content *content, sal_error *err)
{
    return sal_file_write(path, content->text.data, content->text.size, err);
}

/* Anything printable is text: the suffix decides. */
const sali_format sali_format_text = {
    .name = "text",
    .doc = "a document in UTF-8",
    .suffixes = { ".txt", ".text", ".md" },
    .content = SALI_CONTENT_TEXT,
    .model = "summary",
    .parse = parse,
    .write = write,
};
