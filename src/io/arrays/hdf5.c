/* SPDX-License-Identifier: MIT */
/* Data sets of HDF5 files. libhdf5 is not made for hostile files: what this reader requests from it
 * is bounded, nothing outside of the file is opened, and a child process reads the file first. */
#include "io/arrays/hdf5.h"

#include "io/config.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/attempt.h"
#include "io/file.h"
#include "io/format.h"
#include "io/hdf5_lock.h"
#include "io/member.h"

#ifdef SALI_HAVE_HDF5

#include <hdf5.h>
#include <sys/mman.h>

/* Memory that libhdf5 may take, besides the numbers and three times the size of the file. */
#define MOST_MEMORY ((int64_t)256 << 20)
#define MOST_DEPTH 8
#define MOST_OBJECTS 4096
#define MOST_NAME 400
/* One deflated byte becomes at most this many; small arrays may lack what was never written. */
#define MOST_EXPANSION 1032
#define SMALL ((int64_t)1 << 20)

/* The data sets of a file, in its order. */
typedef struct h5_file {
    sali_scan *scan;
    const char *wanted; /* the name in the path; NULL: none */
    const char *why;    /* why the data set of that name cannot be read; NULL: it can */
    char why_room[200];
    hid_t id;
    bool matlab;
    sali_candidates arrays; /* names as group/data */
    int64_t objects;
} h5_file;

static void close_file(h5_file *f)
{
    if (f->id >= 0 && H5Fclose(f->id) < 0) {
        sali_scan_refuse(f->scan, "is damaged: it cannot be closed");
    }
    sali_candidates_free(&f->arrays);
}

/* ---- what may be read */

/* Why numbers of this type are not read; NULL: they are. */
static const char *doubt_type(hid_t set)
{
    const hid_t type = H5Dget_type(set);
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0) {
        H5Tclose(type);
    }
    switch (class) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_ENUM: /* booleans of h5py */
        return size >= 1 && size <= 16 ? NULL : "has numbers of more than 16 bytes";
    case H5T_REFERENCE:
        return "holds references to objects, not numbers";
    case H5T_COMPOUND:
        return "holds records (a compound type), not numbers";
    case H5T_STRING:
        return "holds texts, not numbers";
    default:
        return "holds no numbers";
    }
}

/* Why the storage is not read: only numbers inside of the file are, packed by filters of libhdf5
 * itself. NULL: they are. */
static const char *doubt_storage(h5_file *f, hid_t set)
{
    const hid_t made = H5Dget_create_plist(set);
    const char *why = NULL;
    if (made < 0) {
        return "cannot be examined";
    }
    if (H5Pget_layout(made) == H5D_VIRTUAL) {
        why = "is virtual: its numbers are in other files";
    } else if (H5Pget_external_count(made) != 0) {
        why = "has its numbers in another file";
    }
    const int filters = why ? 0 : H5Pget_nfilters(made);
    for (int k = 0; !why && k < filters; k++) {
        unsigned flags = 0, config = 0;
        size_t values = 0;
        const int filter =
            (int)H5Pget_filter2(made, (unsigned)k, &flags, &values, NULL, 0, NULL, &config);
        const bool own = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                         filter == H5Z_FILTER_FLETCHER32 || filter == H5Z_FILTER_NBIT ||
                         filter == H5Z_FILTER_SCALEOFFSET;
        if (!own) {
            snprintf(f->why_room, sizeof f->why_room,
                     "is packed by filter %d, of a plug-in or another library; \"h5repack -f "
                     "GZIP=4 OLD NEW\" packs it by gzip",
                     filter);
            why = f->why_room;
        }
    }
    H5Pclose(made);
    return why;
}

/* The shape of a data set in *view; returns why it is not read, or NULL. */
static const char *take_shape(const h5_file *f, hid_t set, sali_npy *view)
{
    hsize_t sizes[H5S_MAX_RANK] = { 0 };
    const hid_t space = H5Dget_space(set);
    const bool simple = space >= 0 && H5Sget_simple_extent_type(space) == H5S_SIMPLE;
    const int ndim = simple ? H5Sget_simple_extent_ndims(space) : 0;
    const bool known = ndim >= 1 && ndim <= SALI_NPY_MAX_DIM &&
                       H5Sget_simple_extent_dims(space, sizes, NULL) == ndim;
    if (space >= 0) {
        H5Sclose(space);
    }
    *view = (sali_npy){ .dtype = SALI_DTYPE_F64,
                        .ndim = ndim,
                        .big_endian = SALI_BIG_ENDIAN,
                        .fortran_order = f->matlab };
    for (int d = 0; known && d < ndim; d++) {
        const hsize_t size = sizes[f->matlab ? ndim - 1 - d : d];
        view->shape[d] = size <= INT32_MAX ? (int64_t)size : -1;
    }
    view->count = known ? sali_shape_count(view->shape, ndim, sizeof(double)) : 0;
    const int64_t file_size = f->scan->end - f->scan->begin;
    return !known            ? "has not 1 to 4 dimensions"
           : view->count < 1 ? "has no numbers"
           : view->count > SALI_UNPACK_MAX ||
                   (view->count > SMALL && view->count / MOST_EXPANSION > file_size)
               ? "claims more numbers than 2^30 or than a file of its size can hold"
               : NULL;
}

/* Why a data set is not read; NULL: it is, with *view as its shape. */
static const char *doubt(h5_file *f, hid_t set, sali_npy *view)
{
    const char *why = doubt_type(set);
    why = why ? why : doubt_storage(f, set);
    return why ? why : take_shape(f, set, view);
}

/* ---- the list of all data sets */

/* Add a data set to the list, or note why the one that is wanted cannot be read. */
static void note_set(h5_file *f, hid_t set, const char *path)
{
    sali_npy view;
    const char *why = doubt(f, set, &view);
    if (why) {
        f->why = f->wanted && strcmp(f->wanted, path) == 0 ? why : f->why;
    } else {
        sali_candidates_add(f->scan, &f->arrays, path, (int64_t)strlen(path), (uint64_t)view.count,
                            f->arrays.n);
    }
}

/* Write the path of link number k of a group to `path`. False: too long, or, as a link to somewhere
 * else or MATLAB's own, not to be followed. */
static bool name_link(h5_file *f, hid_t group, hsize_t k, const char *above, char path[MOST_NAME])
{
    H5L_info_t info;
    char name[MOST_NAME];
    const ssize_t size = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name,
                                            sizeof name, H5P_DEFAULT);
    const bool fits = size > 0 && (size_t)size < sizeof name &&
                      snprintf(path, MOST_NAME, "%s%s", above, name) < MOST_NAME;
    if (!fits || H5Lget_info(group, name, &info, H5P_DEFAULT) < 0) {
        return false;
    }
    const bool inside = info.type == H5L_TYPE_HARD;
    if (!inside && f->wanted && strcmp(f->wanted, path) == 0) {
        f->why = info.type == H5L_TYPE_SOFT
                     ? "is a soft link, which is not followed; name what it leads to"
                     : "is a link into another file, which is not followed";
    }
    return inside && !(f->matlab && name[0] == '#');
}

/* List the data sets of a group, whose path is `above`, and of its groups. */
static void list_group(h5_file *f, hid_t group, const char *above, int depth)
{
    H5G_info_t info = { 0 };
    if (H5Gget_info(group, &info) < 0) {
        return;
    }
    for (hsize_t k = 0; k < info.nlinks && f->scan->status == SAL_OK; k++) {
        char path[MOST_NAME];
        if (f->objects++ == MOST_OBJECTS) {
            sali_scan_refuse(f->scan, "holds more than %d objects", MOST_OBJECTS);
            return;
        }
        if (!name_link(f, group, k, above, path)) {
            continue;
        }
        const hid_t object = H5Oopen(group, path + strlen(above), H5P_DEFAULT);
        const H5I_type_t kind = object >= 0 ? H5Iget_type(object) : H5I_BADID;
        const size_t length = strlen(path);
        if (kind == H5I_DATASET) {
            note_set(f, object, path);
        } else if (kind == H5I_GROUP && depth < MOST_DEPTH && length + 1 < MOST_NAME) {
            memcpy(path + length, "/", 2);
            list_group(f, object, path, depth + 1);
        }
        if (object >= 0) {
            H5Oclose(object);
        }
    }
}

/* ---- reading */

/* libhdf5 refuses bytes in memory under the name of a file that exists. */
#define NO_FILE "/dev/null/memory"

/* Open the bytes as a file. */
static void open_bytes(h5_file *f)
{
    const size_t size = (size_t)(f->scan->end - f->scan->begin);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_core(access, 1 << 16, 0) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_image(access, (void *)f->scan->begin, size) >= 0) {
        f->id = H5Fopen(NO_FILE, H5F_ACC_RDONLY, access);
    }
    if (access >= 0) {
        H5Pclose(access);
    }
    if (f->id < 0) {
        sali_scan_refuse(f->scan, "is no HDF5 file, or is damaged or cut");
    }
}

/* Read a data set that was listed; `out` NULL: and discard the numbers. */
static void take_set(h5_file *f, const char *path, sal_array *out)
{
    sali_npy view;
    const hid_t set = H5Dopen2(f->id, path, H5P_DEFAULT);
    const char *why = set >= 0 ? doubt(f, set, &view) : "cannot be opened";
    double *values = why ? NULL : SALI_SCAN_ARRAY(f->scan, double, view.count);
    if (why) {
        sali_scan_refuse(f->scan, "is damaged: '%.100s' %s", path, why);
    } else if (values &&
               H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        sali_scan_refuse(f->scan, "is damaged: the numbers of '%.100s' cannot be read", path);
    } else if (values && out) {
        view.data = (const unsigned char *)values;
        f->scan->status = sali_array_take(f->scan->name, &view, out, f->scan->err);
    }
    sali_free(values);
    if (set >= 0) {
        H5Dclose(set);
    }
}

/* Read the data set that the path names, or in a trial discard it. From then on libhdf5 prints
 * no errors, as it does not with libnetcdf: after some damaged files it would complain at exit. */
static void read_set(sali_scan *scan, bool matlab, bool trial, sali_content *out)
{
    const sali_member *member = scan->reading ? scan->reading->member : NULL;
    h5_file f = {
        .scan = scan, .wanted = member ? member->name : NULL, .id = -1, .matlab = matlab
    };
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    open_bytes(&f);
    if (scan->status == SAL_OK) {
        list_group(&f, f.id, "", 0);
    }
    if (f.why) {
        sali_scan_refuse(scan, "'%.100s' %s", f.wanted, f.why);
    }
    const sali_candidate *chosen = sali_member_choose(scan, &f.arrays, &out->remark);
    if (chosen) {
        take_set(&f, chosen->name, trial ? NULL : &out->array);
    }
    close_file(&f);
}

/* What became of the reading in the child process; the memory is shared with it. */
typedef struct report {
    sal_status status;
    sal_error err;
} report;

typedef struct trial {
    const sali_scan *scan;
    bool matlab;
    report *report;
} trial;

/* The work of the child process. */
static void try_set(const void *data)
{
    const trial *t = data;
    sali_scan scan = *t->scan;
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    scan.err = &t->report->err;
    read_set(&scan, t->matlab, true, &content);
    t->report->status = scan.status;
}

/* Read the file in a child process. Fails as that does, so that libhdf5 of this process need not
 * tidy up after it. */
static void try_file(sali_scan *scan, bool matlab)
{
    const int64_t size = scan->end - scan->begin;
    const sali_attempt_limits limits = { 60 + (double)size / (1 << 20),
                                         MOST_MEMORY + 8 * SALI_UNPACK_MAX + 3 * size };
    report *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED) {
        sali_scan_granted(scan, false);
        return;
    }
    const trial t = { scan, matlab, told };
    scan->status = sali_attempt(scan->name,
                                "is no HDF5 file, or a damaged one: libhdf5 crashes, or takes too "
                                "much time or memory",
                                &limits, try_set, &t, scan->err);
    if (scan->status == SAL_OK && told->status != SAL_ERR_MEMORY) {
        scan->status = told->status;
        if (told->status != SAL_OK && scan->err) {
            *scan->err = told->err;
        }
    }
    munmap(told, sizeof *told);
}

void sali_hdf5_parse(sali_scan *scan, bool matlab, sali_content *out)
{
    pthread_mutex_lock(&sali_hdf5_mutex);
    try_file(scan, matlab);
    if (scan->status == SAL_OK) {
        read_set(scan, matlab, false, out);
    }
    pthread_mutex_unlock(&sali_hdf5_mutex);
    sali_member_arrange(scan, matlab, out);
}

#else

void sali_hdf5_parse(sali_scan *scan, bool matlab, sali_content *out)
{
    (void)out;
    scan->status = sali_fail(scan->err, SAL_ERR_UNSUPPORTED,
                             "%s: %s not read: saltus was built without libhdf5; in Python, "
                             "numpy.save(\"x.npy\", h5py.File(file)[name]) writes one array as "
                             ".npy",
                             scan->name, matlab ? "of MATLAB 7.3, whose files are HDF5:" : "");
}

#endif

static void parse(sali_scan *scan, sali_content *out)
{
    sali_hdf5_parse(scan, false, out);
}

/* Recognised by its suffix alone: other files must not reach libhdf5 unasked, and those of netCDF
 * have a reader of their own. */
const sali_format sali_format_hdf5 = {
    .name = "hdf5",
    .doc = "one of the data sets of HDF5 (FILE:GROUP/NAME), if built with libhdf5",
    .suffixes = { ".h5", ".hdf5" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_BYTES,
    .has_members = true,
    .parse = parse,
};
