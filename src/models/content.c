/* SPDX-License-Identifier: MIT */
#include "models/content.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "models/alphabet.h"

const char *sali_content_name(sali_content_kind kind)
{
    switch (kind) {
    case SALI_CONTENT_NONE:
        return "nothing";
    case SALI_CONTENT_NETWORK:
        return "a network";
    case SALI_CONTENT_GRAPH:
        return "a graph";
    case SALI_CONTENT_ALIGNMENT:
        return "an alignment";
    case SALI_CONTENT_POTTS:
        return "a Potts model";
    case SALI_CONTENT_ARRAY:
        return "an array";
    case SALI_CONTENT_TAPE:
        return "a saved tape";
    }
    return "";
}

void sali_names_free(char **names, int64_t n)
{
    for (int64_t k = 0; names && k < n; k++) {
        sali_free(names[k]);
    }
    sali_free(names);
}

void sali_factor_graph_free(sali_factor_graph *graph)
{
    for (int64_t v = 0; graph->state_names && v < graph->variables; v++) {
        sali_names_free(graph->state_names[v], graph->states[v]);
    }
    sali_free(graph->state_names);
    sali_names_free(graph->names, graph->variables);
    sali_free(graph->states);
    sali_free(graph->scope_begin);
    sali_free(graph->scope);
    sali_free(graph->table_begin);
    sali_free(graph->log_table);
    *graph = (sali_factor_graph){ 0 };
}

void sali_graph_free(sali_graph *graph)
{
    sali_free(graph->pairs);
    sali_free(graph->weights);
    sali_free(graph->node_weights);
    sali_names_free(graph->names, graph->nodes);
    *graph = (sali_graph){ 0 };
}

void sali_alignment_free(sali_alignment *alignment)
{
    sali_free(alignment->codes);
    sali_free(alignment->letters);
    sali_names_free(alignment->names, alignment->sequences);
    *alignment = (sali_alignment){ 0 };
}

void sali_alignment_recode(sali_alignment *a, const char *alphabet)
{
    int8_t codes[256];
    if (!alphabet[0] || strcmp(alphabet, a->alphabet) == 0) {
        return;
    }
    sali_alphabet_codes(alphabet, codes);
    for (int64_t i = 0; i < a->sequences * a->length; i++) {
        const char letter = a->letters ? a->letters[i] : a->alphabet[a->codes[i]];
        const int8_t code = codes[(unsigned char)letter];
        a->codes[i] = (uint8_t)(code >= 0 ? code : 0);
    }
    snprintf(a->alphabet, sizeof a->alphabet, "%s", alphabet);
}

void sali_potts_free(sali_potts *potts)
{
    sali_free(potts->h);
    sali_free(potts->J);
    *potts = (sali_potts){ 0 };
}

void sal_array_free(sal_array *array)
{
    sali_free(array->values);
    sali_free(array->codes);
    sali_free(array->labels);
    sali_free(array->warning);
    sali_free(array->remark);
    *array = (sal_array){ 0 };
}

void sali_text_free(sali_text *text)
{
    sali_free(text->data);
    *text = (sali_text){ 0 };
}

void sali_content_free(sali_content *content)
{
    switch (content->kind) {
    case SALI_CONTENT_NETWORK:
        sali_factor_graph_free(&content->network);
        break;
    case SALI_CONTENT_GRAPH:
        sali_graph_free(&content->graph);
        break;
    case SALI_CONTENT_ALIGNMENT:
        sali_alignment_free(&content->alignment);
        break;
    case SALI_CONTENT_POTTS:
        sali_potts_free(&content->potts);
        break;
    case SALI_CONTENT_ARRAY:
        sal_array_free(&content->array);
        break;
    case SALI_CONTENT_TAPE:
        sali_text_free(&content->text);
        break;
    case SALI_CONTENT_NONE:
        break;
    }
    sali_remark_free(&content->remark);
    *content = (sali_content){ 0 };
}
