/* SPDX-License-Identifier: MIT */
/* Arrays of NumPy's savez and savez_compressed: a zip file whose members are .npy files. */
#include "io/config.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/member.h"
#include "io/file.h"
#include "io/format.h"

/* Where a member begins: after 26 bytes, the length of its name, and the name after 30. */
#define NAME_LENGTH 26
#define NAME 30

/* Whether the first member of a zip file is an array. */
static bool recognise(sali_scan *scan)
{
    const unsigned char *bytes = (const unsigned char *)scan->begin;
    const int64_t size = scan->end - scan->begin;
    if (size < NAME || memcmp(bytes, "PK\3\4", 4) != 0) {
        return false;
    }
    const int length = bytes[NAME_LENGTH] | bytes[NAME_LENGTH + 1] << 8;
    return length > 4 && size >= NAME + length && memcmp(bytes + NAME + length - 4, ".npy", 4) == 0;
}

#ifdef SALI_HAVE_ZIP

#include <zip.h>

/* More than any file has. */
#define MOST_ARRAYS 4096
/* One deflated byte becomes at most this many. */
#define MOST_EXPANSION 1032

/* The arrays of a file, in its order. */
typedef struct archive {
    zip_t *zip;
    sali_candidates arrays; /* names without .npy; places are the numbers of the members */
} archive;

static void close_archive(archive *a)
{
    sali_candidates_free(&a->arrays);
    if (a->zip) {
        zip_discard(a->zip);
    }
}

/* Fail with the error of libzip, which is out of memory or about the file. */
static void fail_zip(sali_scan *scan, zip_error_t *error, const char *what)
{
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY) {
        sali_scan_granted(scan, false);
    }
    sali_scan_refuse(scan, "%s: %s", what, zip_error_strerror(error));
}

/* Open the zip file in memory. */
static void open_archive(sali_scan *scan, archive *a)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source =
        zip_source_buffer_create(scan->begin, (zip_uint64_t)(scan->end - scan->begin), 0, &error);
    a->zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!a->zip) {
        fail_zip(scan, &error, "is no zip file, or a damaged one");
        zip_source_free(source);
    }
    zip_error_fini(&error);
}

/* List the members that are arrays. */
static void list_members(sali_scan *scan, archive *a)
{
    const zip_int64_t n = a->zip ? zip_get_num_entries(a->zip, 0) : 0;
    if (n > MOST_ARRAYS) {
        sali_scan_refuse(scan, "holds %lld files; expected at most %d", (long long)n, MOST_ARRAYS);
    }
    for (zip_int64_t k = 0; scan->status == SAL_OK && k < n; k++) {
        zip_stat_t member;
        const bool known = zip_stat_index(a->zip, (zip_uint64_t)k, 0, &member) == 0 &&
                           member.valid & ZIP_STAT_NAME && member.valid & ZIP_STAT_SIZE;
        const size_t length = known ? strlen(member.name) : 0;
        if (length > 4 && strcmp(member.name + length - 4, ".npy") == 0) {
            sali_candidates_add(scan, &a->arrays, member.name, (int64_t)length - 4, member.size, k);
        }
    }
}

/* Fail unless a member has a size that its compressed bytes can have, and is compressed as NumPy
 * does it. Sets *size. */
static void check_member(sali_scan *scan, archive *a, zip_uint64_t index, int64_t *size)
{
    zip_stat_t m;
    const zip_uint64_t need =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(a->zip, index, 0, &m) != 0 || (m.valid & need) != need) {
        sali_scan_refuse(scan, "its member %llu has no size", (unsigned long long)index);
    } else if (m.encryption_method != ZIP_EM_NONE) {
        sali_scan_refuse(scan, "its arrays are encrypted");
    } else if (m.comp_method != ZIP_CM_STORE && m.comp_method != ZIP_CM_DEFLATE) {
        sali_scan_refuse(scan,
                         "its arrays are compressed by method %d; expected stored or "
                         "deflated ones, as numpy.savez writes them",
                         m.comp_method);
    } else if (m.size > (zip_uint64_t)SALI_UNPACK_MAX) {
        sali_scan_refuse(scan, "decompresses to more than %lld bytes", (long long)SALI_UNPACK_MAX);
    } else if (m.comp_size > (zip_uint64_t)(scan->end - scan->begin) ||
               m.size / MOST_EXPANSION > m.comp_size) {
        sali_scan_refuse(scan, "claims more bytes than it can hold");
    } else {
        *size = (int64_t)m.size;
    }
}

/* The bytes of a member, of a size that was checked, to be freed; NULL after a failure. */
static unsigned char *read_member(sali_scan *scan, archive *a, zip_uint64_t index, int64_t size)
{
    unsigned char *bytes = sali_scan_alloc(scan, size + 1, 1);
    zip_file_t *file = bytes ? zip_fopen_index(a->zip, index, 0) : NULL;
    int64_t done = 0;
    for (zip_int64_t got = 1; file && got > 0; done += got) {
        /* One byte more than there should be: libzip compares the checksum at the end. */
        got = zip_fread(file, bytes + done, (zip_uint64_t)(size + 1 - done));
        if (got < 0 || done + got > size) {
            done = -1;
            break;
        }
    }
    if (bytes && !file) {
        fail_zip(scan, zip_get_error(a->zip), "cannot be read");
    } else if (file && done != size) {
        sali_scan_refuse(scan, "is damaged: %s",
                         done < 0 ? zip_error_strerror(zip_file_get_error(file))
                                  : "an array has another size than the list of arrays says");
    }
    if (file) {
        zip_fclose(file);
    }
    return bytes;
}

/* Read one member as a .npy file; messages name both. */
static void take_member(sali_scan *scan, archive *a, const sali_candidate *chosen, sal_array *out)
{
    const zip_uint64_t index = (zip_uint64_t)chosen->place;
    int64_t size = 0;
    char name[1024];
    snprintf(name, sizeof name, "%.700s:%.300s", scan->name, chosen->name);
    check_member(scan, a, index, &size);
    unsigned char *bytes = scan->status == SAL_OK ? read_member(scan, a, index, size) : NULL;
    if (scan->status == SAL_OK) {
        sali_scan member = sali_scan_of(name, bytes, size, SALI_BYTES, scan->err);
        sali_npy npy = sali_npy_view(&member);
        scan->status = member.status ? member.status : sali_array_take(name, &npy, out, scan->err);
    }
    sali_free(bytes);
}

static void parse(sali_scan *scan, sali_content *out)
{
    archive a = { 0 };
    open_archive(scan, &a);
    list_members(scan, &a);
    const sali_candidate *chosen = sali_member_choose(scan, &a.arrays, &out->remark);
    if (chosen) {
        take_member(scan, &a, chosen, &out->array);
    }
    close_archive(&a);
    sali_member_arrange(scan, false, out);
}

#else

static void parse(sali_scan *scan, sali_content *out)
{
    (void)out;
    scan->status = sali_fail(scan->err, SAL_ERR_UNSUPPORTED,
                             "%s: not read: saltus was built without libzip; numpy.save writes "
                             "one array as .npy",
                             scan->name);
}

#endif

const sali_format sali_format_npz = {
    .name = "npz",
    .doc = "one of several arrays of NumPy (FILE:NAME), if built with libzip",
    .suffixes = { ".npz" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_BYTES,
    .recognise = recognise,
    .has_heading = true,
    .has_members = true,
    .parse = parse,
};
