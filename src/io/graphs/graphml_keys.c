/* SPDX-License-Identifier: MIT */
#include "io/graphs/graphml_keys.h"

#include "core/alloc.h"

/* Of those with the same meaning the first that a file declares counts. */
static const struct {
    const char *name;
    sali_graphml_owner owner;
    sali_graphml_meaning meaning;
} attributes[] = {
    { "h", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT },
    { "field", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT },
    { "bias", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT },
    { "weight", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT },
    { "J", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT },
    { "coupling", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT },
    { "bias", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT },
    { "weight", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT },
    { "name", SALI_NODES, SALI_GRAPHML_NODE_NAME },
    { "id", SALI_NODES, SALI_GRAPHML_NODE_NAME },
    { "vartype", SALI_WHOLE_GRAPH, SALI_GRAPHML_VARTYPE },
};

#define N_ATTRIBUTES ((int)(sizeof attributes / sizeof *attributes))

void sali_graphml_keys_free(sali_graphml_keys *keys)
{
    sali_name_table_clear(&keys->ids);
    sali_free(keys->keys);
    *keys = (sali_graphml_keys){ 0 };
}

static bool is_text(const char *text, int64_t size, const char *word)
{
    return sali_token_is(&(sali_token){ .text = text, .size = size }, word);
}

const char *sali_graphml_require(sali_scan *where, const sali_xml_element *element,
                                 const char *attribute, int64_t *size)
{
    const char *text = sali_xml_attribute(element, attribute, size);
    if (!text) {
        sali_scan_fail(where, where->line, "<%s> without %s", element->name, attribute);
        *size = 0;
    }
    return text ? text : "";
}

/* ---- declarations */

/* The row of an attribute; -1: it does not matter. */
static int find_row(sali_graphml_owner owner, const char *name, int64_t size)
{
    for (int k = 0; k < N_ATTRIBUTES; k++) {
        if (attributes[k].owner == owner && is_text(name, size, attributes[k].name)) {
            return k;
        }
    }
    return -1;
}

static bool is_number(const sali_xml_element *element)
{
    static const char *const types[] = { "int", "long", "float", "double", "boolean" };
    int64_t size;
    const char *type = sali_xml_attribute(element, "attr.type", &size);
    bool found = !type;
    for (size_t k = 0; !found && k < sizeof types / sizeof *types; k++) {
        found = is_text(type, size, types[k]);
    }
    return found;
}

/* The row of what a key means for one kind of owner, or -1. A field of text is no weight of nodes
 * ("field" may be "physics"); where weights of edges are text, reading on would lose them. */
static int find_meaning(sali_scan *where, const sali_xml_element *element, sali_graphml_owner owner)
{
    static const char *const domains[] = { "node", "edge", "graph" };
    int64_t size = 0, domain_size = 0;
    const char *name = sali_xml_attribute(element, "attr.name", &size);
    const char *domain = sali_xml_attribute(element, "for", &domain_size);
    bool ours = !domain || is_text(domain, domain_size, "all") ||
                is_text(domain, domain_size, domains[owner]);
    int row = name && ours ? find_row(owner, name, size) : -1;
    if (row < 0 || is_number(element)) {
        return row;
    }
    if (attributes[row].meaning == SALI_GRAPHML_EDGE_WEIGHT) {
        sali_scan_fail(where, where->line,
                       "the attribute '%s' of edges has a type of text; expected int, long, float, "
                       "double or boolean",
                       attributes[row].name);
    }
    return attributes[row].meaning == SALI_GRAPHML_NODE_WEIGHT ? -1 : row;
}

int64_t sali_graphml_keys_add(sali_graphml_keys *keys, sali_scan *where,
                              const sali_xml_element *element)
{
    int64_t size, type_size, count = keys->ids.count;
    const char *id = sali_graphml_require(where, element, "id", &size);
    if (sali_name_table_find(&keys->ids, id, size) >= 0) {
        sali_scan_fail(where, where->line, "a key's id again");
    }
    const char *type = sali_xml_attribute(element, "attr.type", &type_size);
    sali_graphml_key made = { .boolean = type && is_text(type, type_size, "boolean") };
    for (int owner = SALI_NODES; owner <= SALI_WHOLE_GRAPH; owner++) {
        made.row[owner] = find_meaning(where, element, (sali_graphml_owner)owner);
    }
    if (sali_scan_grow(where, (void **)&keys->keys, &keys->room, count + 1, sizeof made) &&
        sali_scan_granted(where, sali_name_table_put(&keys->ids, id, size) >= 0)) {
        keys->keys[count] = made;
        return count;
    }
    return 0;
}

/* ---- the choice */

static bool means(int row, sali_graphml_meaning meaning)
{
    return row >= 0 && attributes[row].meaning == meaning;
}

bool sali_graphml_key_is_weight(const sali_graphml_key *key)
{
    return means(key->row[SALI_NODES], SALI_GRAPHML_NODE_WEIGHT) ||
           means(key->row[SALI_EDGES], SALI_GRAPHML_EDGE_WEIGHT);
}

/* The first row with this meaning that is declared; N_ATTRIBUTES: none. */
static int first_row(const sali_graphml_keys *keys, sali_graphml_owner owner,
                     sali_graphml_meaning meaning)
{
    int best = N_ATTRIBUTES;
    for (int64_t k = 0; k < keys->ids.count; k++) {
        int row = keys->keys[k].row[owner];
        best = means(row, meaning) && row < best ? row : best;
    }
    return best;
}

void sali_graphml_keys_choose(sali_graphml_keys *keys)
{
    keys->weight_row[SALI_NODES] = first_row(keys, SALI_NODES, SALI_GRAPHML_NODE_WEIGHT);
    keys->weight_row[SALI_EDGES] = first_row(keys, SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT);
    keys->name_row = first_row(keys, SALI_NODES, SALI_GRAPHML_NODE_NAME);
    keys->standard[SALI_NODES] = 0;
    keys->standard[SALI_EDGES] = 1;
    for (int64_t k = keys->ids.count - 1; k >= 0; k--) {
        const sali_graphml_key *key = &keys->keys[k];
        for (int owner = SALI_NODES; key->has_default && owner <= SALI_EDGES; owner++) {
            if (key->row[owner] == keys->weight_row[owner]) {
                keys->standard[owner] = key->value;
                keys->has_standard_of_nodes |= owner == SALI_NODES;
            }
        }
    }
}

sali_graphml_meaning sali_graphml_keys_meaning(const sali_graphml_keys *keys, int64_t index,
                                               sali_graphml_owner owner)
{
    int row = keys->keys[index].row[owner];
    bool counts = row >= 0 && (owner == SALI_WHOLE_GRAPH || row == keys->weight_row[owner] ||
                               row == keys->name_row);
    return counts ? attributes[row].meaning : SALI_GRAPHML_OTHER;
}
