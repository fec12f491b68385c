/* SPDX-License-Identifier: MIT */
/* File formats of model inputs: graphs, networks, alignments, arrays and tapes. To add a format: a
 * file with its record, and its name in SALI_FORMAT_LIST. */
#ifndef SALI_FORMAT_H
#define SALI_FORMAT_H

#include <math.h>

#include "core/error.h"
#include "io/scan.h"
#include "io/text_output.h"
#include "io/xml.h"
#include "models/content.h"

#define SALI_FORMAT_SUFFIXES 7 /* with the NULL that ends them */

typedef struct sali_format {
    const char *name;                           /* "graphml" */
    const char *doc;                            /* one line */
    const char *suffixes[SALI_FORMAT_SUFFIXES]; /* ".graphml", ..; the first is the usual one */
    sali_content_kind content;
    /* The model that a file stands for when only the file is named ("ising"). NULL: the file is a
     * model itself (a network or saved tape), or the model must be named. */
    const char *model;
    const char *root;  /* of XML formats: the root element that identifies them; NULL: not XML */
    unsigned comments; /* SALI_COMMENT_*, for the scanners below */
    /* Whether the bytes look like this format; used for files with another suffix, or with one that
     * several formats share. NULL: the root element or the suffix decides. */
    bool (*recognise)(sali_scan *scan);
    /* `recognise` finds a heading that no other format has; then the suffix does not matter. */
    bool has_heading;
    bool needs_suffix; /* what `recognise` finds means nothing in a file with another suffix */
    /* A file holds several arrays, of which a path FILE:NAME names one (io/member.h). */
    bool has_members;
    /* Read all of a file, whose bytes are followed by a NUL. *out has its kind set and is empty
     * otherwise; the caller frees it, on failure too. NULL: cannot be read. */
    void (*parse)(sali_scan *scan, sali_content *out);
    /* Write content of this kind; fails with ARGUMENT for what the format cannot express. NULL:
     * cannot be written. */
    void (*write)(sali_text_output *w, const sali_content *content);
} sali_format;

/* All formats, in the order in which `recognise` is tried. */
#define SALI_FORMAT_LIST(X) \
    X(aln)                  \
    X(fasta)                \
    X(stockholm)            \
    X(adabmdca)             \
    X(ccmpred)              \
    X(plmc)                 \
    X(graphml)              \
    X(coo)                  \
    X(bqm)                  \
    X(bqpjson)              \
    X(qubo)                 \
    X(dimacs)               \
    X(gset)                 \
    X(qpbo)                 \
    X(mtx)                  \
    X(uai_lg)               \
    X(uai)                  \
    X(xmlbif)               \
    X(cnf)                  \
    X(wcnf)                 \
    X(bif)                  \
    X(hugin)                \
    X(fg)                   \
    X(hdf5)                 \
    X(idx)                  \
    X(mat)                  \
    X(netcdf)               \
    X(npy)                  \
    X(npz)                  \
    X(usps)                 \
    X(libsvm)               \
    X(table)                \
    X(tape)

#define SALI_FORMAT_DECLARE(name) extern const sali_format sali_format_##name;
SALI_FORMAT_LIST(SALI_FORMAT_DECLARE)
#undef SALI_FORMAT_DECLARE

/* Format number `index` of SALI_FORMAT_LIST; NULL past the end. */
const sali_format *sali_format_at(int64_t index);

/* Find a format by its name. Returns: SAL_ERR_NOT_FOUND with a list of all names. */
sal_status sali_format_named(const char *name, const sali_format **out, sal_error *err);

/* The format of a file, found as sali_content_read does: *found is NULL if none fits.
 * Returns: those of sali_file_read_unpacked. */
sal_status sali_format_find(const char *path, sali_content_kind kind, const sali_format **found,
                            sal_error *err);

/* What the caller knows about a file, as the file itself may not contain it. Zeros: nothing. */
typedef struct sali_reading {
    sal_columns_from columns_from;
    int64_t columns;        /* the least length of a row; 0: unknown */
    bool pictures;          /* rows are square pictures, if `columns` is 0 */
    sali_columns companion; /* from another file with the same columns; zeros: there is none */
    bool asks;              /* messages may suggest columns_from (--columns-from) */
    const char *alphabet; /* of an alignment, or of parameters: its letters; NULL or "": unknown */
    sali_vartype vartype; /* of a graph: its numbers are an energy of such variables */
    const struct sali_member *member; /* what the path says after the file; NULL: nothing */
} sali_reading;

/* SAL_ERR_ARGUMENT if columns_from is given for content that is not from a libsvm file, or is not a
 * value of the header. */
sal_status sali_columns_check(const char *path, sal_columns_from columns_from,
                              const sali_content *content, sal_error *err);

/* Read `size` bytes from memory, followed by a NUL; `name` is for messages. Returns: DATA with
 * name:line; MEMORY. On failure *out is untouched. `reading` may be NULL. */
static inline sal_status sali_format_parse_as(const sali_format *format, const char *name,
                                              const char *data, int64_t size,
                                              const sali_reading *reading, sali_content *out,
                                              sal_error *err)
{
    sali_content content = { .kind = format->content };
    sali_scan scan = sali_scan_of(name, data, size, format->comments, err);
    scan.reading = reading;
    format->parse(&scan, &content);
    if (scan.status != SAL_OK) {
        sali_content_free(&content);
    } else {
        *out = content;
    }
    return scan.status;
}

static inline sal_status sali_format_parse(const sali_format *format, const char *name,
                                           const char *data, int64_t size, sali_content *out,
                                           sal_error *err)
{
    return sali_format_parse_as(format, name, data, size, NULL, out, err);
}

/* Whether bytes look like a format; false if the format has nothing to recognise it by. */
static inline bool sali_format_recognises(const sali_format *format, const void *data, int64_t size)
{
    sali_scan scan = sali_scan_of("", data, size, format->comments, NULL);
    return format->root ? sali_xml_root_is(&scan, format->root)
                        : format->recognise && format->recognise(&scan);
}

/* Write a file, atomically. `remark` (may be NULL) receives what was dropped or changed. Returns:
 * ARGUMENT for what the format cannot express; IO; MEMORY. */
static inline sal_status sali_format_write_as(const sali_format *format, const char *path,
                                              const sali_content *content, sali_remark *remark,
                                              sal_error *err)
{
    sali_text_output w;
    sali_text_open(&w, path, format->root, err);
    w.remark = remark;
    if (w.status == SAL_OK) {
        format->write(&w, content);
    }
    return sali_text_close(&w);
}

static inline sal_status sali_format_write(const sali_format *format, const char *path,
                                           const sali_content *content, sal_error *err)
{
    return sali_format_write_as(format, path, content, NULL, err);
}

/* SAL_ERR_DATA, naming the first value that is NaN or infinite. */
static inline sal_status sali_array_check(const char *name, const sal_array *array, sal_error *err)
{
    for (int64_t i = 0; i < array->count; i++) {
        if (!isfinite(array->values[i])) {
            return sali_fail(err, SAL_ERR_DATA, "%s: element %lld is %g; expected finite numbers",
                             name, (long long)i, array->values[i]);
        }
    }
    return SAL_OK;
}

/* Read a file, compressed or not. The format is `format`, or if NULL the one that suffix and
 * content indicate, among those of `kind` (SALI_CONTENT_NONE: any). The path may name one array of
 * a file (FILE:NAME, io/member.h). *found (may be NULL) receives
 * the format; for a format that is read elsewhere, *out has only its kind.
 * Returns: SAL_ERR_ARGUMENT when no format is recognised; SAL_ERR_DATA; those of
 *          sali_file_read_unpacked. On failure the outputs are untouched. */
sal_status sali_content_read(const char *path, const sali_format *format, sali_content_kind kind,
                             sali_content *out, const sali_format **found, sal_error *err);

/* As sali_content_read, with what the caller knows about the file; `reading` may be NULL. */
sal_status sali_content_read_as(const char *path, const sali_format *format, sali_content_kind kind,
                                const sali_reading *reading, sali_content *out,
                                const sali_format **found, sal_error *err);

/* Write content in `format`, or if NULL in the format of the suffix: one of the content's kind or,
 * failing that, one that the content can be converted to (models/conversion.h).
 * Returns: SAL_ERR_ARGUMENT when there is none, with a list of the formats of its kind. */
sal_status sali_content_write(const char *path, const sali_format *format,
                              const sali_content *content, sal_error *err);

/* As sali_content_write; `remark` (may be NULL) receives what was dropped or changed. */
sal_status sali_content_write_as(const char *path, const sali_format *format,
                                 const sali_content *content, sali_remark *remark, sal_error *err);

/* Whether the path, without ".gz" or the like, ends in one of the format's suffixes. */
bool sali_format_has_suffix(const sali_format *format, const char *path);

#endif
