/* SPDX-License-Identifier: MIT */
/* For meson.build: exits with 0 if libhdf5 is in this process once, as libnetcdf's and as ours. */
#define _GNU_SOURCE
#include <hdf5.h>
#include <link.h>
#include <netcdf.h>
#include <string.h>

static int note(struct dl_phdr_info *object, size_t size, void *count)
{
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash ? slash + 1 : object->dlpi_name;
    (void)size;
    *(int *)count += strncmp(name, "libhdf5", 7) == 0 && !strstr(name, "_hl");
    return 0;
}

int main(void)
{
    int count = 0;
    dl_iterate_phdr(note, &count);
    return H5open() < 0 || !nc_inq_libvers() || count > 1;
}
