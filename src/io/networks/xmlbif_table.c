#include "io/networks/xmlbif_table.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/scan.h"
#include "io/networks/xmlbif.h"

/* Probabilities of one row to their logarithms. */
static sal_status take_row(const char *name, const xmlNode *table, int64_t row, int32_t states,
                           double *p, sal_error *err)
{
    double sum = 0;
    for (int32_t k = 0; k < states; k++) {
        if (p[k] < 0) {
            return sali_xml_fail(name, table, err, "row %lld of a TABLE holds %g", (long long)row,
                                 p[k]);
        }
        sum += p[k];
    }
    if (!(fabs(sum - 1) <= SALI_XMLBIF_ROUNDING)) {
        return sali_xml_fail(name, table, err,
                             "row %lld of a TABLE sums to %.6g; expected 1 (the variable of FOR "
                             "varies fastest)",
                             (long long)row, sum);
    }
    /* A sum that differs by rounding in double is left alone: then files read back bit for bit. */
    double scale = fabs(sum - 1) < 1e-12 ? 1 : sum;
    for (int32_t k = 0; k < states; k++) {
        p[k] = p[k] > 0 ? log(p[k] / scale) : -INFINITY;
    }
    return SAL_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int64_t count_words(const char *text)
{
    int64_t n = 0;
    for (const char *c = text; *c; c++) {
        n += !is_blank(*c) && (c == text || is_blank(c[-1]));
    }
    return n;
}

/* As many numbers as there are. */
static sal_status read_numbers(const char *name, const xmlNode *table, const char *text,
                               int64_t entries, double *p, sal_error *err)
{
    sali_scan scan;
    sali_scan_init(&scan, name, text, (int64_t)strlen(text), 0);
    scan.line = xmlGetLineNo(table);
    sal_status status = SAL_OK;
    for (int64_t k = 0; k < entries && status == SAL_OK; k++) {
        status = sali_scan_double(&scan, "an entry of a TABLE", &p[k], err);
    }
    return status;
}

static sal_status read_rows(const char *name, const xmlNode *table, const char *text,
                            int32_t states, int64_t entries, double **log_p, sal_error *err)
{
    int64_t words = count_words(text);
    if (words != entries) {
        return sali_xml_fail(name, table, err,
                             "a TABLE of %lld entries; FOR and GIVEN ask for %lld",
                             (long long)words, (long long)entries);
    }
    double *p = SALI_NEW_ARRAY(double, entries);
    sal_status status =
        p ? read_numbers(name, table, text, entries, p, err) : sali_fail_memory(err);
    for (int64_t row = 0; row < entries / states && status == SAL_OK; row++) {
        status = take_row(name, table, row, states, p + row * states, err);
    }
    if (status != SAL_OK) {
        sali_free(p);
        return status;
    }
    *log_p = p;
    return SAL_OK;
}

sal_status sali_xmlbif_table(const char *name, const xmlNode *table, int32_t states,
                             int64_t entries, double **log_p, sal_error *err)
{
    xmlChar *text = xmlNodeGetContent(table);
    sal_status status =
        text ? read_rows(name, table, (const char *)text, states, entries, log_p, err)
             : sali_fail_memory(err);
    xmlFree(text);
    return status;
}
