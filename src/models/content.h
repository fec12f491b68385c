/* SPDX-License-Identifier: MIT */
/* The contents of files from which models are made, in one form for all formats: filled by readers,
 * handed to the ready-made models, written by writers. Plain data; a content owns all its
 * arrays. */
#ifndef SALI_CONTENT_H
#define SALI_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/io.h>
#include <saltus/space.h>
#include <saltus/status.h>
#include "models/remark.h"

typedef enum sali_content_kind {
    SALI_CONTENT_NONE = 0,
    SALI_CONTENT_NETWORK,   /* a Bayesian or Markov network */
    SALI_CONTENT_GRAPH,     /* nodes, weighted edges */
    SALI_CONTENT_ALIGNMENT, /* aligned sequences */
    SALI_CONTENT_POTTS,     /* parameters of a Potts model of sequences */
    SALI_CONTENT_ARRAY,     /* numbers: pictures, a table */
    SALI_CONTENT_TAPE       /* a saved tape: the text of its XML */
} sali_content_kind;

/* "a network", "a graph", .. for messages. */
const char *sali_content_name(sali_content_kind kind);

/* ---- networks */

typedef enum sali_factor_kind {
    SALI_FACTOR_MARKOV, /* tables are factors of an unnormalised product */
    SALI_FACTOR_BAYES   /* tables are conditional probabilities, the child last in the scope */
} sali_factor_kind;

/* log p(x) = sum over factors f of log_table[f](x in scope f), up to a constant for MARKOV. */
typedef struct sali_factor_graph {
    sali_factor_kind kind;
    int64_t variables;    /* at least 1 */
    int32_t *states;      /* [variables], each at least 1 */
    int64_t factors;      /* may be 0 */
    int64_t *scope_begin; /* [factors + 1]: scope of f is scope[scope_begin[f]] ... */
    int32_t *scope;       /* variables, none twice in a scope; an empty scope is a constant */
    int64_t *table_begin; /* [factors + 1] */
    double *log_table;    /* natural log, -inf for 0; the last variable of the scope is fastest */
    char **names;         /* [variables], or NULL: the format has none */
    char ***state_names;  /* [variables][states], or NULL */
} sali_factor_graph;

void sali_factor_graph_free(sali_factor_graph *graph);

/* Set *variable to -1 if the parents in a Bayesian network form no cycle, else to a variable that a
 * cycle leads to. Each variable must be the last of exactly one factor's scope. Returns: MEMORY.
 * Cost: linear. */
sal_status sali_factor_graph_cycle(const sali_factor_graph *graph, int64_t *variable,
                                   sal_error *err);

/* ---- graphs */

/* What the numbers of a graph mean, if its format defines it. */
typedef enum sali_vartype {
    SALI_VARTYPE_NONE,  /* weights of edges and nodes */
    SALI_VARTYPE_SPIN,  /* an energy sum h_i s_i + sum J_ij s_i s_j, s in {-1,+1}: f is its negative
                         */
    SALI_VARTYPE_BINARY /* the same for s in {0,1} */
} sali_vartype;

/* An undirected graph. It has no edges i - i: in formats with such edges they are weights of
 * nodes. */
typedef struct sali_graph {
    int64_t nodes; /* at least 1 */
    int64_t edges;
    int64_t *pairs;  /* [edges x 2], i != j; weights of a pair that occurs several times add up */
    double *weights; /* [edges], finite; 1 if the file has none */
    double *node_weights; /* [nodes], or NULL: none are given */
    char **names;         /* [nodes], unique, or NULL: nodes have numbers only */
    sali_vartype vartype;
    double offset; /* of an energy: its constant, finite; of weights: 0 */
} sali_graph;

void sali_graph_free(sali_graph *graph);

/* ---- alignments */

/* What lower-case letters of a file are. */
typedef enum sali_letter_case {
    SALI_CASE_INSERTIONS, /* insertions, as in a2m; or there are none */
    SALI_CASE_LOWER,      /* aligned letters: the file has no letter in upper case */
    SALI_CASE_MIXED,      /* aligned letters: without them rows would differ in length */
    SALI_CASE_MARKED      /* as in upper case: the file marks the columns of insertions */
} sali_letter_case;

typedef struct sali_alignment {
    int64_t sequences, length;        /* both at least 1 */
    char alphabet[SAL_ALPHABET_ROOM]; /* the letters of the codes (models/alphabet.h) */
    uint8_t *codes; /* [sequences x length]; 0, the gap if there is one, for other letters */
    char *letters;  /* [sequences x length] as in the file: of the alphabet, A-Z, '*', '-'; or
                       NULL */
    char **names;   /* [sequences], or NULL */
    sali_letter_case letter_case;
    int64_t insertions; /* letters of the file that were dropped as insertions */
} sali_alignment;

/* Recode an alignment in another alphabet; "" changes nothing. Without `letters`, the letters are
 * those of the present codes. */
void sali_alignment_recode(sali_alignment *alignment, const char *alphabet);

void sali_alignment_free(sali_alignment *alignment);

/* ---- parameters of Potts models */

/* log p(x) = sum_i h_i(x_i) + sum_{i<j} J_ij(x_i, x_j), up to a constant. N = sites x states. */
typedef struct sali_potts {
    int64_t sites;  /* at least 1 */
    int64_t states; /* of each site, at least 2 */
    /* The letters that the states are. "": not known; 21 or 20 states are a protein's, 5 or 4 those
     * of RNA. */
    char alphabet[SAL_ALPHABET_ROOM];
    double *h; /* [N] finite; the states of a site follow each other */
    double *J; /* [N x N] finite, symmetric, its diagonal blocks 0 */
} sali_potts;

/* The largest N: J is dense, 3 GB. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SALI_POTTS_MOST 500
#else
#define SALI_POTTS_MOST 20000
#endif

void sali_potts_free(sali_potts *potts);

/* ---- texts */

/* UTF-8: `size` bytes without a NUL, and a NUL after them. */
typedef struct sali_text {
    char *data;
    int64_t size;
} sali_text;

void sali_text_free(sali_text *text);

/* ---- any of them */

/* How the columns of a libsvm file were counted. */
typedef struct sali_columns {
    sal_columns_from from; /* FIND: the file is no libsvm file */
    bool certain;          /* true: known from the file itself */
    int64_t last;          /* its largest index */
} sali_columns;

/* Content of any kind: `kind` selects the member of the union. All zero: no content. */
typedef struct sali_content {
    sali_content_kind kind;
    sali_remark remark;   /* what the reader found, without the name of the file */
    sali_columns columns; /* of a libsvm file */
    bool label_first;     /* of an array: the first column has the heading "label" */
    bool label_last;      /* of an array: the last column is taken for labels */
    union {
        sali_factor_graph network;
        sali_graph graph;
        sali_alignment alignment;
        sali_potts potts;
        sal_array array;
        sali_text text;
    };
} sali_content;

void sali_content_free(sali_content *content);

/* Free the strings names [n] and the list itself; `names` and its entries may be NULL. */
void sali_names_free(char **names, int64_t n);

#endif
