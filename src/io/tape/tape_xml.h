/* SPDX-License-Identifier: MIT */
/* Saved tapes: the formula of a model as XML, in the schema saltus-tape.rng. */
#ifndef SALI_TAPE_XML_H
#define SALI_TAPE_XML_H

#include <stdint.h>

#include <saltus/model.h>

#include "ad/program.h"
#include "io/checksum.h"
#include "io/text_output.h"
#include "io/xml.h"

/* Limits of a file: far above any model here, but harmless to a machine that opens a hostile file.
 * Elements are counted over the values of all nodes for one state. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* small, to keep fuzzing quick */
#define SALI_TAPE_MAX_BLOCKS ((int64_t)1 << 5)
#define SALI_TAPE_MAX_VARIABLES ((int64_t)1 << 10)
#define SALI_TAPE_MAX_NODES ((int64_t)1 << 10)
#define SALI_TAPE_MAX_ELEMENTS ((int64_t)1 << 14)
#else
#define SALI_TAPE_MAX_BLOCKS ((int64_t)1 << 14)
#define SALI_TAPE_MAX_VARIABLES ((int64_t)1 << 23)
#define SALI_TAPE_MAX_NODES ((int64_t)1 << 18)
#define SALI_TAPE_MAX_ELEMENTS ((int64_t)1 << 27)
#endif

/* The root element of a saved tape. */
#define SALI_TAPE_ROOT "saltus-tape"

/* How the comment with the checksum begins; 16 hexadecimal digits follow. */
#define SALI_TAPE_CHECKSUM "<!-- " SALI_CHECKSUM_KEY " "

/* Write a formula to an open output, which is empty, and behind it a comment with the checksum of
 * all bytes before it; sali_tape_xml_parse compares it, if there is one. params: the name, UTF-8,
 * of the file of parameters in the same directory; NULL: none. UNSUPPORTED when the formula exceeds
 * the limits above. */
void sali_tape_xml_write(sali_text_output *w, const sali_program *program, const char *params);

/* Make the model of a document; all its shapes are inferred again, and its parameters are zero.
 * `name` is for messages and becomes the model's name; dtype 0: the document's. *params: the plain
 * file name of its parameters, to be freed by sali_free; NULL: none.
 * Returns:   DATA with name:line; MEMORY. On failure outputs are untouched. */
sal_status sali_tape_xml_parse(const char *name, const void *text, int64_t size, sal_dtype dtype,
                               sal_model **model, char **params, sal_error *err);

#endif
