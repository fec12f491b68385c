#include "fuzz.h"

#include "core/alloc.h"
#include "io/format.h"
#include "models/zoo/sentences.h"

/* Every promise of sentences.h, of the sentences and of their words. */
static void check_sentences(const char *text, int64_t size)
{
    sali_span *spans = NULL;
    sali_words words = { 0 };
    int64_t n = 0;
    const char *at = text;
    sal_error err = { 0 };
    if (sali_sentences(text, size, &spans, &n, &err) != SAL_OK) {
        abort();
    }
    for (int64_t k = 0; k < n; k++) {
        if (spans[k].text < at || spans[k].size < 1 ||
            spans[k].text + spans[k].size > text + size ||
            (unsigned char)spans[k].text[spans[k].size - 1] <= ' ') {
            abort();
        }
        at = spans[k].text + spans[k].size;
    }
    if (sali_words_create(n, spans, &words, &err) != SAL_OK || words.begin[0] != 0) {
        abort();
    }
    for (int64_t k = 0; k < n; k++) {
        if (words.begin[k + 1] < words.begin[k]) {
            abort();
        }
    }
    for (int64_t k = 0; k < words.begin[n]; k++) {
        if (words.stem[k] < 0 || words.stem[k] >= words.vocabulary) {
            abort();
        }
    }
    sali_words_free(&words);
    sali_free(spans);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    sal_status status =
        sali_format_text.parse("fuzz", (const char *)data, (int64_t)size, &content, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK) {
        check_sentences(content.text.data, content.text.size);
        sali_content_free(&content);
    } else { /* also what is not UTF-8 must be parted without harm */
        check_sentences((const char *)data, (int64_t)size);
    }
    return 0;
}
