/* SPDX-License-Identifier: MIT */
#include "io/graphs/graphml_keys.h"

#include <string.h>

#include "core/alloc.h"

/* The attributes that matter. Of several with the same meaning, the first in this list that a file
 * declares is used. */
static const struct {
    const char *name;
    sali_graphml_owner owner;
    sali_graphml_meaning meaning;
    sali_graphml_quantity quantity;
} attributes[] = {
    { "h", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT, SALI_GRAPHML_ENERGIES_OF_SPINS },
    { "field", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT, SALI_GRAPHML_ENERGIES_OF_SPINS },
    { "bias", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT, SALI_GRAPHML_ENERGIES },
    { "weight", SALI_NODES, SALI_GRAPHML_NODE_WEIGHT, SALI_GRAPHML_WEIGHTS },
    { "J", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT, SALI_GRAPHML_ENERGIES_OF_SPINS },
    { "coupling", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT, SALI_GRAPHML_ENERGIES_OF_SPINS },
    { "bias", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT, SALI_GRAPHML_ENERGIES },
    { "weight", SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT, SALI_GRAPHML_WEIGHTS },
    { "name", SALI_NODES, SALI_GRAPHML_NODE_NAME, 0 },
    { "id", SALI_NODES, SALI_GRAPHML_NODE_NAME, 0 },
    { "vartype", SALI_WHOLE_GRAPH, SALI_GRAPHML_VARTYPE, 0 },
};

#define N_ATTRIBUTES ((int)(sizeof attributes / sizeof *attributes))

void sali_graphml_keys_free(sali_graphml_keys *keys)
{
    for (int owner = 0; owner < SALI_OWNERS; owner++) {
        sali_graphml_domain *domain = &keys->domains[owner];
        for (int64_t k = 0; k < domain->ids.count; k++) {
            sali_free(domain->keys[k].name);
        }
        sali_name_table_clear(&domain->ids);
        sali_free(domain->keys);
    }
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

/* The row of an attribute in the table; -1: it does not matter. */
static int find_row(sali_graphml_owner owner, const char *name, int64_t size)
{
    for (int k = 0; k < N_ATTRIBUTES; k++) {
        if (attributes[k].owner == owner && is_text(name, size, attributes[k].name)) {
            return k;
        }
    }
    return -1;
}

/* Whether a type is numeric: types of GraphML, and those that Gephi adds. */
static bool is_number(const char *type, int64_t size)
{
    static const char *const types[] = {
        "int",   "integer", "long",       "short",      "byte",
        "float", "double",  "biginteger", "bigdecimal", "boolean"
    };
    bool found = false;
    for (size_t k = 0; !found && k < sizeof types / sizeof *types; k++) {
        found = is_text(type, size, types[k]);
    }
    return found;
}

/* The row of a key for one kind of owner, or -1. A weight of nodes whose type is text is ignored
 * ("field" may be "physics"). Weights of edges whose type is text are an error, as ignoring them
 * would lose the weights. */
static int find_meaning(sali_scan *where, const sali_xml_element *element, sali_graphml_owner owner)
{
    static const char *const owners[] = { "nodes", "edges" };
    int64_t size = 0, type_size = 0;
    const char *name = sali_xml_attribute(element, "attr.name", &size);
    const char *type = sali_xml_attribute(element, "attr.type", &type_size);
    const int row = name ? find_row(owner, name, size) : -1;
    const bool weight = row >= 0 && (attributes[row].meaning == SALI_GRAPHML_EDGE_WEIGHT ||
                                     attributes[row].meaning == SALI_GRAPHML_NODE_WEIGHT);
    if (!weight || !type || is_number(type, type_size)) {
        return row;
    }
    const bool text = is_text(type, type_size, "string");
    if (text && owner == SALI_NODES) {
        return -1;
    }
    char shown[SALI_SHOW_SIZE];
    sali_scan_fail(where, where->line,
                   "the attribute '%s' of %s has %s '%s'; expected int, integer, long, float, "
                   "double or boolean",
                   attributes[row].name, owners[owner], text ? "a type of text," : "the type",
                   sali_show(type, type_size, shown));
    return -1;
}

/* Whether a key is for an owner; a key without the attribute `for` is for all. */
static bool is_for(const sali_xml_element *element, sali_graphml_owner owner)
{
    static const char *const domains[] = { "node", "edge", "graph" };
    int64_t size = 0;
    const char *domain = sali_xml_attribute(element, "for", &size);
    bool known = !domain || is_text(domain, size, "all");
    bool ours = known;
    for (int k = SALI_NODES; k <= SALI_WHOLE_GRAPH; k++) {
        const bool is_it = domain && is_text(domain, size, domains[k]);
        known = known || is_it;
        ours = ours || (is_it && k == (int)owner);
    }
    return owner == SALI_OTHERS ? !known : ours;
}

/* Add a key to the keys of one owner. The same id may appear again for the same attribute: networkx
 * declares each type of its values. NULL after a failure. */
static sali_graphml_key *add_key(sali_graphml_domain *domain, sali_scan *where, const char *id,
                                 int64_t size, const sali_graphml_key *made)
{
    const int64_t count = domain->ids.count;
    if (!sali_scan_grow(where, (void **)&domain->keys, &domain->room, count + 1, sizeof *made)) {
        return NULL;
    }
    const int64_t at = sali_name_table_put(&domain->ids, id, size);
    if (!sali_scan_granted(where, at >= 0)) {
        return NULL;
    }
    sali_graphml_key *key = &domain->keys[at];
    if (at == count) {
        *key = *made;
    } else if (key->row != made->row) {
        sali_scan_fail(where, where->line, "a key's id again, for another attribute");
    }
    key->boolean |= made->boolean;
    key->number |= made->number;
    return key;
}

/* Keep the file's name of an attribute, for remarks. */
static void keep_name(sali_graphml_key *key, sali_scan *where, const sali_xml_element *element)
{
    int64_t size = 0;
    const char *name = sali_xml_attribute(element, "attr.name", &size);
    if (key && name && !key->name) {
        key->name = sali_scan_copy(where, name, size);
    }
}

void sali_graphml_keys_add(sali_graphml_keys *keys, sali_scan *where,
                           const sali_xml_element *element, sali_graphml_key *out[SALI_OWNERS])
{
    int64_t size, type_size;
    const char *id = sali_graphml_require(where, element, "id", &size);
    const char *type = sali_xml_attribute(element, "attr.type", &type_size);
    for (int owner = 0; owner < SALI_OWNERS; owner++) {
        out[owner] = NULL;
        if (where->status == SAL_OK && is_for(element, (sali_graphml_owner)owner)) {
            const sali_graphml_key made = {
                .row = find_meaning(where, element, (sali_graphml_owner)owner),
                .boolean = type && is_text(type, type_size, "boolean"),
                .number = type && is_number(type, type_size) && !is_text(type, type_size, "boolean")
            };
            out[owner] = add_key(&keys->domains[owner], where, id, size, &made);
            if (owner == SALI_NODES || owner == SALI_EDGES) {
                keep_name(out[owner], where, element);
            }
        }
    }
}

/* ---- the choice */

static bool has_meaning(int row, sali_graphml_meaning meaning)
{
    return row >= 0 && attributes[row].meaning == meaning;
}

bool sali_graphml_key_means(const sali_graphml_key *key, sali_graphml_meaning meaning)
{
    return key && has_meaning(key->row, meaning);
}

/* The first row with this meaning that the file declares; N_ATTRIBUTES: none. */
static int first_row(const sali_graphml_keys *keys, sali_graphml_owner owner,
                     sali_graphml_meaning meaning)
{
    const sali_graphml_domain *domain = &keys->domains[owner];
    int best = N_ATTRIBUTES;
    for (int64_t k = 0; k < domain->ids.count; k++) {
        int row = domain->keys[k].row;
        best = has_meaning(row, meaning) && row < best ? row : best;
    }
    return best;
}

sali_graphml_quantity sali_graphml_keys_quantity(const sali_graphml_keys *keys)
{
    const int row = keys->weight_row[SALI_EDGES];
    return row < N_ATTRIBUTES ? attributes[row].quantity : SALI_GRAPHML_WEIGHTS;
}

void sali_graphml_keys_choose(sali_graphml_keys *keys)
{
    keys->weight_row[SALI_NODES] = first_row(keys, SALI_NODES, SALI_GRAPHML_NODE_WEIGHT);
    keys->weight_row[SALI_EDGES] = first_row(keys, SALI_EDGES, SALI_GRAPHML_EDGE_WEIGHT);
    keys->name_row = first_row(keys, SALI_NODES, SALI_GRAPHML_NODE_NAME);
    keys->standard[SALI_NODES] = 0;
    keys->standard[SALI_EDGES] = 1;
    if (sali_graphml_keys_quantity(keys) != SALI_GRAPHML_WEIGHTS) {
        keys->standard[SALI_EDGES] = 0; /* without a value, the energy is 0 */
    }
    for (int owner = SALI_NODES; owner <= SALI_EDGES; owner++) {
        const sali_graphml_domain *domain = &keys->domains[owner];
        for (int64_t k = domain->ids.count - 1; k >= 0; k--) {
            const sali_graphml_key *key = &domain->keys[k];
            if (key->has_default && key->row == keys->weight_row[owner]) {
                keys->standard[owner] = key->value;
                keys->has_standard[owner] = true;
            }
        }
    }
}

const char *sali_graphml_keys_weight_name(const sali_graphml_keys *keys, sali_graphml_owner owner)
{
    const sali_graphml_domain *domain = &keys->domains[owner];
    const char *name = NULL;
    for (int64_t k = 0; !name && k < domain->ids.count; k++) {
        name = domain->keys[k].row == keys->weight_row[owner] ? domain->keys[k].name : NULL;
    }
    return name;
}

/* Whether a name is unlikely to be that of a weight; true for NULL. */
static bool is_no_weight(const char *name)
{
    static const char *const names[] = { "id", "key", "size", "x", "y", "z", "r", "g", "b" };
    bool found = !name;
    for (size_t k = 0; !found && k < sizeof names / sizeof *names; k++) {
        found = is_text(name, (int64_t)strlen(name), names[k]);
    }
    return found;
}

int64_t sali_graphml_keys_passed_over(const sali_graphml_keys *keys, sali_graphml_owner owner,
                                      const char **first)
{
    const sali_graphml_domain *domain = &keys->domains[owner];
    int64_t count = 0;
    *first = NULL;
    for (int64_t k = 0; k < domain->ids.count && keys->weight_row[owner] == N_ATTRIBUTES; k++) {
        const sali_graphml_key *key = &domain->keys[k];
        if (key->number && key->used && !is_no_weight(key->name)) {
            *first = *first ? *first : key->name;
            count++;
        }
    }
    return count;
}

sali_graphml_meaning sali_graphml_keys_meaning(sali_graphml_keys *keys, sali_scan *where,
                                               sali_graphml_owner owner, const char *id,
                                               int64_t size, bool *boolean)
{
    sali_graphml_domain *domain = &keys->domains[owner];
    const int64_t at = sali_name_table_find(&domain->ids, id, size);
    bool elsewhere = false;
    for (int other = 0; other < SALI_OWNERS; other++) {
        elsewhere |= sali_name_table_find(&keys->domains[other].ids, id, size) >= 0;
    }
    if (!elsewhere) {
        char shown[SALI_SHOW_SIZE];
        sali_scan_fail(where, where->line, "data of a key '%s' that is not declared before",
                       sali_show(id, size, shown));
    }
    const int row = at >= 0 ? domain->keys[at].row : -1;
    bool counts = row >= 0 && (owner == SALI_WHOLE_GRAPH || row == keys->weight_row[owner] ||
                               row == keys->name_row);
    if (at >= 0) {
        domain->keys[at].used = true;
    }
    *boolean = at >= 0 && domain->keys[at].boolean;
    return counts ? attributes[row].meaning : SALI_GRAPHML_OTHER;
}
