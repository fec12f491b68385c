/* saltus rouge: how much of a reference summary another text has. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "io/format.h"
#include "models/zoo/sentences.h"
#include "stats/rouge.h"

static sal_status compare_texts(int64_t n, const sali_span text[2], sali_rouge *out, sal_error *err)
{
    sali_words words = { 0 };
    sal_status status = sali_words_create(2, text, &words, err);
    if (status == SAL_OK) {
        const int64_t *begin = words.begin;
        status = sali_rouge_n(n, begin[1], words.stem, begin[2] - begin[1], words.stem + begin[1],
                              out, err);
    }
    sali_words_free(&words);
    return status;
}

static int run_rouge(const cli_command *command, int argc, char **argv)
{
    const char *paths[2] = { NULL, NULL };
    int64_t n = 2, bytes = 0;
    bool json = false;
    const cli_option table[] = {
        { "n", CLI_INT, &n, "N", "words of an n-gram [2]" },
        { "bytes", CLI_INT, &bytes, "N", "of the summary, its first so many [all]" },
        { "json", CLI_FLAG, &json, NULL, "print one JSON object" },
        { 0 },
    };
    int code = cli_parse(command, argc, argv, table, 2, paths);
    if (code == CLI_OK && (n < 1 || n > 9 || bytes < 0)) {
        code = cli_usage("rouge: --n must be 1 to 9, --bytes 1 or more");
    }
    if (code != CLI_OK) {
        return code;
    }
    sali_content content[2] = { 0 };
    sali_span text[2] = { { NULL, 0 }, { NULL, 0 } };
    sali_rouge r = { 0 };
    sal_error err = { 0 };
    sal_status status = SAL_OK;
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        status = sali_content_read(paths[k], NULL, SALI_CONTENT_TEXT, &content[k], NULL, &err);
        text[k] = (sali_span){ content[k].text.data, content[k].text.size };
    }
    if (bytes > 0 && bytes < text[0].size) {
        text[0].size = bytes;
    }
    status = status ? status : compare_texts(n, text, &r, &err);
    sali_content_free(&content[0]);
    sali_content_free(&content[1]);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (json) {
        return cli_json_print(json_pack("{s:I, s:f, s:f, s:f}", "n", (json_int_t)n, "recall",
                                        r.recall, "precision", r.precision, "f", r.f));
    }
    printf("ROUGE-%lld          recall %.4f, precision %.4f, F %.4f\n", (long long)n, r.recall,
           r.precision, r.f);
    return CLI_OK;
}

const cli_command cli_rouge = { "rouge", "TEXT REF",
                                "ROUGE: how much of a reference summary a text has", run_rouge };
