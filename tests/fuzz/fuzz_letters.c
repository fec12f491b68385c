/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "io/format.h"
#include "models/alphabet.h"

/* Write the content in its format and read it back with its alphabet. False: the writer refuses the
 * content. */
static bool write_and_read(const sali_format *format, const sali_content *content,
                           const char *alphabet, sali_content *again)
{
    const sali_reading reading = { .alphabet = alphabet };
    const char *path = fuzz_path("written");
    sal_error err = { 0 };
    sali_text_output w;
    sali_text_open(&w, path, false, &err);
    format->write(&w, content);
    if (sali_text_close(&w) != SAL_OK) {
        return false;
    }
    FILE *file = fopen(path, "rb");
    static char text[1 << 20];
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (!file || size == sizeof text - 1) {
        abort();
    }
    fclose(file);
    text[size] = '\0';
    if (sali_format_parse_as(format, "again", text, (int64_t)size, &reading, again, &err) !=
        SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    return true;
}

static void check_alignment(const sali_format *format, const sali_content *content)
{
    const sali_alignment *a = &content->alignment;
    sali_content again = { 0 };
    const size_t letters = strlen(a->alphabet);
    for (int64_t k = 0; k < a->sequences * a->length; k++) {
        if (a->codes[k] >= letters) {
            abort();
        }
    }
    if (write_and_read(format, content, a->alphabet, &again) &&
        (again.alignment.sequences != a->sequences || again.alignment.length != a->length ||
         memcmp(again.alignment.codes, a->codes, (size_t)(a->sequences * a->length)) != 0)) {
        abort();
    }
    sali_content_free(&again);
}

static void check_potts(const sali_format *format, const sali_content *content)
{
    const sali_potts *p = &content->potts;
    sali_content again = { 0 };
    const int64_t N = p->sites * p->states;
    if (p->alphabet[0] && (int64_t)strlen(p->alphabet) != p->states) {
        abort();
    }
    if (N > 64 || !write_and_read(format, content, p->alphabet, &again)) {
        return; /* large ones are slow */
    }
    if (again.potts.sites != p->sites || again.potts.states != p->states) {
        abort();
    }
    for (int64_t k = 0; k < N * N && format != &sali_format_plmc; k++) { /* which has 32 bits */
        if (again.potts.J[k] != p->J[k] || again.potts.h[k % N] != p->h[k % N]) {
            abort();
        }
    }
    sali_content_free(&again);
}

/* A letter for the format, the text of an alphabet to the end of the line, and a file, which is
 * read in this alphabet, written, and read again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    if (!end || end - data > 200) {
        return 0;
    }
    const sali_format *format = data[0] == 'f'   ? &sali_format_fasta
                                : data[0] == 'a' ? &sali_format_aln
                                : data[0] == 's' ? &sali_format_stockholm
                                : data[0] == 'd' ? &sali_format_adabmdca
                                : data[0] == 'p' ? &sali_format_plmc
                                                 : NULL;
    char asked[256] = "", letters[SAL_ALPHABET_ROOM];
    sal_error err = { 0 };
    if (!format) {
        return 0;
    }
    memcpy(asked, data + 1, (size_t)(end - data - 1));
    if (sali_alphabet_parse(asked, letters, &err) != SAL_OK) {
        return 0;
    }
    const sali_reading reading = { .alphabet = letters };
    sali_content content = { 0 };
    const int64_t left = (int64_t)size - (end - data) - 1;
    char *text = fuzz_alloc(left + 1, 1);
    memcpy(text, end + 1, (size_t)left);
    sal_status status = sali_format_parse_as(format, "fuzz", text, left, &reading, &content, &err);
    fuzz_check(status, &err);
    if (status == SAL_OK && content.kind == SALI_CONTENT_POTTS) {
        check_potts(format, &content);
    } else if (status == SAL_OK) {
        check_alignment(format, &content);
    }
    sali_content_free(&content);
    free(text);
    return 0;
}
