/* SPDX-License-Identifier: MIT */
/* Graphs in GraphML, in the dialects that programs write. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "core/name_table.h"
#include "graph_check.h"

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const sali_format *const graphml = &sali_format_graphml;

static sal_status parse_bytes(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(graphml, "mem", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

/* What is between <graphml> and </graphml>. */
static sal_status parse_inner(const char *text, sali_graph *out, sal_error *err)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "<graphml>%s</graphml>", text);
    return graph_parse(graphml, whole, out, err);
}

#define WEIGHT "<key id='w' for='edge' attr.name='weight' attr.type='double'/>"
#define NODES(data) "<node id='a'>" data "</node><node id='b'/>"
#define EDGE(data) "<edge source='a' target='b'>" data "</edge>"

/* ---- the same graph by several programs */

/* write_graphml of networkx 2.8.8: int and double weights under two keys of one name. */
static const char by_networkx[] =
    "<?xml version='1.0' encoding='utf-8'?>\n"
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
    "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
    "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">"
    "<key id=\"d3\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\"/>\n"
    "<key id=\"d2\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n"
    "<key id=\"d1\" for=\"node\" attr.name=\"h\" attr.type=\"long\"/>\n"
    "<key id=\"d0\" for=\"node\" attr.name=\"h\" attr.type=\"double\"/>\n"
    "<graph edgedefault=\"undirected\"><node id=\"a\">\n  <data key=\"d0\">0.5</data>\n</node>\n"
    "<node id=\"b\"/>\n<node id=\"c d\">\n  <data key=\"d1\">-1</data>\n</node>\n"
    "<edge source=\"a\" target=\"b\">\n  <data key=\"d2\">0.1</data>\n</edge>\n"
    "<edge source=\"a\" target=\"c d\"/>\n"
    "<edge source=\"b\" target=\"c d\">\n  <data key=\"d3\">-2</data>\n</edge>\n"
    "</graph></graphml>\n";

/* write_graphml of python-igraph 0.10.2. */
static const char by_igraph[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"\n"
    "         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
    "         xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns\n"
    "         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n"
    "<!-- Created by igraph -->\n"
    "  <key id=\"v_name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
    "  <key id=\"v_h\" for=\"node\" attr.name=\"h\" attr.type=\"double\"/>\n"
    "  <key id=\"e_weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n"
    "  <graph id=\"G\" edgedefault=\"undirected\">\n"
    "    <node id=\"n0\">\n      <data key=\"v_name\">a</data>\n"
    "      <data key=\"v_h\">0.5</data>\n    </node>\n"
    "    <node id=\"n1\">\n      <data key=\"v_name\">b</data>\n"
    "      <data key=\"v_h\">0</data>\n    </node>\n"
    "    <node id=\"n2\">\n      <data key=\"v_name\">c d</data>\n"
    "      <data key=\"v_h\">-1</data>\n    </node>\n"
    "    <edge source=\"n0\" target=\"n1\">\n      <data key=\"e_weight\">0.1</data>\n    </edge>\n"
    "    <edge source=\"n0\" target=\"n2\">\n      <data key=\"e_weight\">1</data>\n    </edge>\n"
    "    <edge source=\"n1\" target=\"n2\">\n      <data key=\"e_weight\">-2</data>\n    </edge>\n"
    "  </graph>\n</graphml>\n";

/* In the manner of Gephi: labels, sizes and colours, ids of edges, weights always as doubles. */
static const char as_gephi[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
    "<key attr.name=\"label\" attr.type=\"string\" for=\"node\" id=\"label\"/>"
    "<key attr.name=\"Edge Label\" attr.type=\"string\" for=\"edge\" id=\"edgelabel\"/>"
    "<key attr.name=\"weight\" attr.type=\"double\" for=\"edge\" id=\"weight\"/>"
    "<key attr.name=\"r\" attr.type=\"int\" for=\"node\" id=\"r\"/>"
    "<key attr.name=\"size\" attr.type=\"float\" for=\"node\" id=\"size\"/>"
    "<key attr.name=\"h\" attr.type=\"float\" for=\"node\" id=\"h\"/>"
    "<graph edgedefault=\"undirected\">"
    "<node id=\"a\"><data key=\"label\">A</data><data key=\"h\">0.5</data>"
    "<data key=\"size\">10.0</data><data key=\"r\">153</data></node>"
    "<node id=\"b\"><data key=\"label\"></data><data key=\"h\">0.0</data></node>"
    "<node id=\"c d\"><data key=\"h\">-1.0</data></node>"
    "<edge id=\"0\" source=\"a\" target=\"b\"><data key=\"edgelabel\">7</data>"
    "<data key=\"weight\">0.1</data></edge>"
    "<edge id=\"1\" source=\"a\" target=\"c d\"><data key=\"weight\">1.0</data></edge>"
    "<edge id=\"2\" source=\"b\" target=\"c d\"><data key=\"weight\">-2.0</data></edge>"
    "</graph></graphml>";

START_TEST(all_programs_write_the_same_graph)
{
    static const char *const names[] = { "a", "b", "c d" };
    static const double h[] = { 0.5, 0, -1 };
    static const graph_edge edges[] = { { 0, 1, 0.1 }, { 0, 2, 1 }, { 1, 2, -2 } };
    const char *const texts[] = { by_networkx, by_igraph, as_gephi };
    for (int k = 0; k < 3; k++) {
        sal_error err = { 0 };
        sali_graph g = { 0 };
        sali_content content = { .kind = SALI_CONTENT_GRAPH };
        ck_assert(sali_format_recognises(graphml, texts[k], (int64_t)strlen(texts[k])));
        ck_ok(graph_parse(graphml, texts[k], &g, &err), &err);
        graph_check(&g, 3, names, h, 3, edges);
        content.graph = g;
        ck_ok(sali_format_write(graphml, temp_path("a.graphml"), &content, &err), &err);
        sali_content_free(&content);
        const sali_format *found = NULL;
        ck_ok(sali_content_read(temp_path("a.graphml"), NULL, SALI_CONTENT_NONE, &content, &found,
                                &err),
              &err);
        ck_assert_ptr_eq(found, graphml);
        graph_check(&content.graph, 3, names, h, 3, edges);
        sali_content_free(&content);
    }
}
END_TEST

/* write_graphml of networkx of a MultiDiGraph: every edge is a term. */
START_TEST(directions_and_parallel_edges_are_terms_of_their_own)
{
    static const graph_edge edges[] = { { 0, 1, 1 }, { 0, 1, 2.5 }, { 1, 0, 7 } };
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_ok(parse_inner("<key id='d1' for='edge' attr.name='weight' attr.type='double' />"
                      "<key id='d0' for='edge' attr.name='weight' attr.type='long' />"
                      "<graph edgedefault='directed'><node id='0' /><node id='1' />"
                      "<edge source='0' target='1' id='0'><data key='d0'>1</data></edge>"
                      "<edge source='0' target='1' id='1'><data key='d1'>2.5</data></edge>"
                      "<edge source='1' target='0' id='0'><data key='d0'>7</data></edge></graph>",
                      &g, &err),
          &err);
    graph_check(&g, 2, NULL, NULL, 3, edges);
    sali_graph_free(&g);
}
END_TEST

/* ---- attributes */

START_TEST(attributes_are_known_by_name_not_by_id)
{
    static const struct {
        const char *keys, *data;
        double weight;
    } cases[] = {
        { "<key id='weight' for='edge' attr.name='length' attr.type='double'/>"
          "<key id='x7' for='edge' attr.name='J' attr.type='double'/>",
          "<data key='weight'>5</data><data key='x7'>-3</data>", -3 },
        { WEIGHT "<key id='J' for='edge' attr.name='j' attr.type='float'/>",
          "<data key='w'>5</data><data key='J'>4</data>", 4 },
        { WEIGHT "<key id='c' for='all' attr.name='Coupling'/>",
          "<data key='c'>\n 5e-1 </data><data key='w'>nonsense</data>", 0.5 },
        { WEIGHT "<key id='n' for='node' attr.name='J' attr.type='double'/>",
          "<data key='n'>5</data><data key='w'>4</data>", 4 },
        { "<key id='b' for='edge' attr.name='weight' attr.type='boolean'/>",
          "<data key='b'>true</data>", 1 },
        { "<key id='b' for='edge' attr.name='weight' attr.type='boolean'/>",
          "<data key='b'>false</data>", 0 },
        { "<key id='b' for='edge' attr.name='weight' attr.type='int'/>", "<data key='b'>3.0</data>",
          3 },
        { "<key id='b' for='edge' attr.name='weight' attr.type='integer'/>",
          "<data key='b'>-3</data>", -3 },
        { WEIGHT, "<data key='w'>-0x1.8p+1</data>", -3 },
        { WEIGHT, "<data key='w'>0X.8</data>", 0.5 },
        { "<key id='w' for='edge' attr.name='weight'><default/></key>", "", 1 },
        { "<key id='w' for='edge' attr.name='weight'><default> </default></key>", "", 1 },
        { WEIGHT "<key id='w' for='node' attr.name='label' attr.type='string'/>",
          "<data key='w'>4</data>", 4 },
        { "<key id='w' for='node' attr.name='label' attr.type='string'/>" WEIGHT,
          "<data key='w'>4</data>", 4 },
        { "<key id='weight' for='edge' attr.name='weight' attr.type='long'/>"
          "<key id='weight' for='edge' attr.name='weight' attr.type='boolean'/>"
          "<key id='weight' for='port' attr.name='x'/><key id='weight' for='graph'/>",
          "<data key='weight'>true</data>", 1 },
        { WEIGHT, "", 1 },
        { "", "", 1 },
        { "<key id='y' for='edge' yfiles.type='edgegraphics'/>",
          "<data key='y'><y:a xmlns:y='u'>5</y:a></data>", 1 },
        { "<key id='w' for='edge' attr.name='weight' attr.type='int'><desc/><default>-4</default>"
          "</key>",
          "", -4 },
        { "<key id='w' for='edge' attr.name='weight' attr.type='int'><default>-4</default></key>",
          "<data key='w'><![CDATA[2]]>.<!-- and -->5</data>", 2.5 },
        { "<key id='a' for='edge' attr.name='weight'><default>5</default></key>"
          "<key id='b' for='edge' attr.name='weight'><default>7</default></key>",
          "", 5 }, /* the first of two alike */
    };
    for (int64_t k = 0; k < N(cases); k++) {
        char text[2000];
        sal_error err = { 0 };
        sali_graph g = { 0 };
        snprintf(text, sizeof text, "%s<graph>" NODES("") EDGE("%s") "</graph>", cases[k].keys,
                 cases[k].data);
        ck_ok(parse_inner(text, &g, &err), &err);
        static const char *const names[] = { "a", "b" };
        graph_check(&g, 2, names, NULL, 1, &(graph_edge){ 0, 1, cases[k].weight });
        sali_graph_free(&g);
    }
}
END_TEST

START_TEST(weights_of_nodes_are_found)
{
    static const struct {
        const char *keys, *data;
        bool given;
        double weights[2];
    } cases[] = {
        { "<key id='d' for='node' attr.name='weight' attr.type='int'/>",
          "<data key='d'>2</data>",
          true,
          { 2, 0 } },
        { "<key id='d' for='node' attr.name='bias' attr.type='int'><default>7</default></key>",
          "<data key='d'>2</data>",
          true,
          { 2, 7 } },
        { "<key id='d' for='node' attr.name='field'><default>7</default></key>",
          "",
          true,
          { 7, 7 } },
        { "<key id='d' for='node' attr.name='weight'/><key id='h' for='node' attr.name='H'/>",
          "<data key='d'>2</data><data key='h'>3</data>",
          true,
          { 3, 0 } },
        { "<key id='d' for='node' attr.name='field' attr.type='string'>"
          "<default>none</default></key>",
          "<data key='d'>physics</data>",
          false,
          { 0 } },
        { "<key id='d' for='node' attr.name='weight' attr.type='int'/>", "", false, { 0 } },
        { "<key id='d' for='edge' attr.name='h' attr.type='int'/>",
          "<data key='d'>2</data>",
          false,
          { 0 } },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        char text[2000];
        sal_error err = { 0 };
        sali_graph g = { 0 };
        snprintf(text, sizeof text, "%s<graph>" NODES("%s") "</graph>", cases[k].keys,
                 cases[k].data);
        ck_ok(parse_inner(text, &g, &err), &err);
        static const char *const names[] = { "a", "b" };
        graph_check(&g, 2, names, cases[k].given ? cases[k].weights : NULL, 0, NULL);
        sali_graph_free(&g);
    }
}
END_TEST

/* networkx with named_key_ids: the id of a key is its name. */
START_TEST(nodes_and_edges_may_share_the_id_of_a_key)
{
    static const char *const names[] = { "a", "b" };
    static const double weights[] = { 0.5, 0 };
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_ok(parse_inner("<key id='weight' for='edge' attr.name='weight' attr.type='double'/>"
                      "<key id='weight' for='node' attr.name='weight' attr.type='integer'/>"
                      "<graph>" NODES("<data key='weight'>0.5</data>")
                          EDGE("<data key='weight'>2</data>") "</graph>",
                      &g, &err),
          &err);
    graph_check(&g, 2, names, weights, 1, &(graph_edge){ 0, 1, 2 });
    ck_assert_int_eq(g.vartype, SALI_VARTYPE_NONE);
    sali_graph_free(&g);
}
END_TEST

/* The attribute that edges have says what numbers are, unless the graph says it. */
START_TEST(couplings_are_energies_of_spins)
{
    static const struct {
        const char *keys, *data;
        sali_vartype vartype;
    } cases[] = {
        { "<key id='w' for='edge' attr.name='J'/>", "", SALI_VARTYPE_SPIN },
        { "<key id='w' for='edge' attr.name='Coupling'/>", "", SALI_VARTYPE_SPIN },
        { WEIGHT "<key id='x' for='edge' attr.name='J'/>", "", SALI_VARTYPE_SPIN },
        { WEIGHT "<key id='h' for='node' attr.name='h'/>", "", SALI_VARTYPE_NONE },
        { "<key id='h' for='node' attr.name='h'/>", "", SALI_VARTYPE_NONE },
        { "<key id='w' for='edge' attr.name='J'/><key id='v' for='graph' attr.name='vartype'/>",
          "<data key='v'>BINARY</data>", SALI_VARTYPE_BINARY },
        { "<key id='w' for='edge' attr.name='bias'/><key id='v' for='graph' attr.name='vartype'/>",
          "<data key='v'>SPIN</data>", SALI_VARTYPE_SPIN },
        { "<key id='w' for='edge' attr.name='bias'/><key id='v' for='graph' attr.name='vartype'>"
          "<default>BINARY</default></key>",
          "", SALI_VARTYPE_BINARY },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        char text[1000];
        sal_error err = { 0 };
        sali_graph g = { 0 };
        snprintf(text, sizeof text, "%s<graph>%s" NODES("") EDGE("") "</graph>", cases[k].keys,
                 cases[k].data);
        ck_ok(parse_inner(text, &g, &err), &err);
        ck_assert_msg(g.vartype == cases[k].vartype, "case %d", (int)k);
        sali_graph_free(&g);
    }
}
END_TEST

START_TEST(energies_that_the_attribute_tells_have_a_remark)
{
    static const struct {
        const char *keys, *remark;
    } cases[] = {
        { "<key id='w' for='edge' attr.name='J'/>",
          "J of edges are energies of spins: f is minus their sum" },
        { "<key id='w' for='edge' attr.name='J'/><key id='h' for='node' attr.name='h'>"
          "<default>1</default></key>",
          "J of edges and h of nodes are energies of spins: f is minus their sum" },
        { "<key id='w' for='edge' attr.name='Coupling'/>",
          "Coupling of edges are energies of spins: f is minus their sum" },
        { "<key id='w' for='edge' attr.name='J'/><key id='h' for='node' attr.name='bias'>"
          "<default>1</default></key>",
          "J of edges and bias of nodes are energies of spins: f is minus their sum" },
        { "<key id='w' for='edge' attr.name='coupling'/>"
          "<key id='h' for='node' attr.name='weight'><default>1</default></key>",
          "coupling of edges and weight of nodes are energies of spins: f is minus their sum" },
        { "<key id='w' for='edge' attr.name='J'/><key id='v' for='graph' attr.name='vartype'>"
          "<default>SPIN</default></key>",
          NULL },
        { "<key id='w' for='edge' attr.name='weight'/>", NULL },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        char text[1000];
        sal_error err = { 0 };
        sali_content content = { 0 };
        snprintf(text, sizeof text,
                 "<graphml>%s<graph>" NODES("") EDGE("<data key='w'>1</data>") "</graph></graphml>",
                 cases[k].keys);
        ck_ok(sali_format_parse(graphml, "f", text, (int64_t)strlen(text), &content, &err), &err);
        ck_assert_int_eq(content.remark.warns, cases[k].remark != NULL);
        if (cases[k].remark) {
            ck_assert_str_eq(content.remark.text, cases[k].remark);
        }
        sali_content_free(&content);
    }
}
END_TEST

/* The remark of a graph of two nodes, of which the first has data, and of an edge; NULL: none. */
static void check_remark(const char *keys, const char *of_node, const char *of_edge,
                         const char *remark)
{
    char text[2000];
    sal_error err = { 0 };
    sali_content content = { 0 };
    snprintf(text, sizeof text, "<graphml>%s<graph>" NODES("%s") EDGE("%s") "</graph></graphml>",
             keys, of_node, of_edge);
    ck_ok(sali_format_parse(graphml, "f", text, (int64_t)strlen(text), &content, &err), &err);
    ck_assert_str_eq(content.remark.text ? content.remark.text : "", remark ? remark : "");
    ck_assert_int_eq(content.remark.warns, remark != NULL);
    sali_content_free(&content);
}

START_TEST(numbers_that_are_passed_over_have_a_remark)
{
#define X(type) "<key id='x' for='all' attr.name='interaction' attr.type='" type "'/>"
#define Y(name) "<key id='y' attr.name='" name "' attr.type='int'/>"
    static const char data[] = "<data key='x'>2</data>";
    static const char both[] = "<data key='x'>2</data><data key='y'>3</data>";
    check_remark(X("double"), "", data,
                 "weights of edges are 1: the file's attribute 'interaction' of edges is not read "
                 "(name it 'weight', or 'J' for an energy)");
    check_remark(X("float") Y("length"), "", both,
                 "weights of edges are 1: the file's attributes 'interaction' and 1 more of edges "
                 "are not read (name it 'weight', or 'J' for an energy)");
    check_remark(X("double") Y("b"), both, "",
                 "nodes have no weights: the file's attribute 'interaction' of nodes is not read "
                 "(name it 'weight' or 'h')");
    check_remark(X("double"), "", "", NULL);
    check_remark(X("string"), data, data, NULL);
    check_remark(X("boolean"), data, data, NULL);
    check_remark(X("double") WEIGHT, "", "<data key='x'>2</data><data key='w'>2</data>", NULL);
    check_remark(Y("Size"), "<data key='y'>1</data>", "", NULL);
    check_remark("<key id='y' for='node'/>", "<data key='y'>1</data>", "", NULL);
#undef X
#undef Y
}
END_TEST

START_TEST(missing_values_have_a_remark)
{
#define ENERGIES "J of edges are energies of spins: f is minus their sum"
    static const char weight[] = "<data key='w'>5</data>", field[] = "<data key='h'>5</data>";
    static const char h[] = "<key id='h' for='node' attr.name='h'/>";
    static const char j[] = "<key id='w' for='edge' attr.name='J'><default/></key>";
    check_remark(WEIGHT, "", "", "1 edge has no weight, which is taken as 1");
    check_remark(WEIGHT, "", weight, NULL);
    check_remark("<key id='w' for='edge' attr.name='weight'><default>2</default></key>", "", "",
                 NULL);
    check_remark(j, "", "", ENERGIES "; 1 edge has no J, which is taken as 0");
    check_remark(j, "", weight, ENERGIES);
    check_remark(h, field, "", "1 node has no h, which is taken as 0");
    check_remark(h, "", "", "2 nodes have no h, which is taken as 0");
    check_remark("<key id='h' for='node' attr.name='h'><default>0</default></key>", "", "", NULL);
#undef ENERGIES
}
END_TEST

/* One energy beside another that is given. */
START_TEST(an_energy_that_is_missing_is_0)
{
    static const char *const names[] = { "J", "coupling", "bias", "weight" };
    static const char *const nodes[] = { "a", "b", "c" };
    for (int k = 0; k < 4; k++) {
        char text[1000];
        sal_error err = { 0 };
        sali_graph g = { 0 };
        snprintf(text, sizeof text,
                 "<key id='w' for='edge' attr.name='%s'><default> </default></key>"
                 "<key id='v' for='graph' attr.name='vartype'><default>SPIN</default></key>"
                 "<graph>" NODES("") "<node id='c'/>" EDGE(
                     "<data key='w'>5</data>") "<edge source='b' target='c'/></graph>",
                 names[k]);
        ck_ok(parse_inner(text, &g, &err), &err);
        const graph_edge edges[] = { { 0, 1, 5 }, { 1, 2, k == 3 } };
        graph_check(&g, 3, nodes, NULL, 2, edges);
        sali_graph_free(&g);
    }
}
END_TEST

/* f of a chain of three with the numbers .5; -1, 1 at all states. */
static void check_f(const char *edges, double of_edges, double of_node)
{
    char text[1000];
    sal_error err = { 0 };
    sal_model *model = NULL;
    snprintf(text, sizeof text,
             "<graphml><key id='d0' for='node' attr.name='h' attr.type='double'/>"
             "<key id='d1' for='edge' attr.name='%s' attr.type='double'/><graph>"
             "<node id='0'><data key='d0'>0.5</data></node><node id='1'/><node id='2'/>"
             "<edge source='0' target='1'><data key='d1'>-1</data></edge>"
             "<edge source='1' target='2'><data key='d1'>1</data></edge></graph></graphml>",
             edges);
    ck_ok(sal_model_open(temp_write("c.graphml", text, strlen(text)), SAL_F64, &model, &err), &err);
    for (int32_t k = 0; k < 8; k++) {
        const int32_t codes[] = { k & 1, k >> 1 & 1, k >> 2 };
        const double a = 2 * codes[0] - 1, b = 2 * codes[1] - 1, c = 2 * codes[2] - 1;
        double f;
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(f, of_edges * (-a * b + b * c) + of_node * 0.5 * a, 1e-12);
    }
    sal_model_destroy(model);
}

/* Minus the energy, as of dimod's files; and with weights 2 theta = .4. */
START_TEST(a_graph_by_itself_is_its_energy_or_the_ising_model_of_its_weights)
{
    check_f("J", -1, -1);
    check_f("weight", 0.4, 1);
}
END_TEST

START_TEST(energies_are_told_by_the_vartype)
{
    static const char form[] = "<key id='v' for='graph' attr.name='vartype' attr.type='string'/>"
                               "<graph><data key='v'> %s </data>" NODES("") "</graph>";
    static const char *const words[] = { "SPIN", "binary" };
    sal_error err = { 0 };
    for (int k = 0; k < 2; k++) {
        char text[500];
        sali_graph g = { 0 };
        snprintf(text, sizeof text, form, words[k]);
        ck_ok(parse_inner(text, &g, &err), &err);
        ck_assert_int_eq(g.vartype, k == 0 ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY);
        sali_content content = { .kind = SALI_CONTENT_GRAPH, .graph = g }, back = { 0 };
        ck_ok(sali_format_write(graphml, temp_path("v.graphml"), &content, &err), &err);
        ck_ok(sali_content_read(temp_path("v.graphml"), graphml, 0, &back, NULL, &err), &err);
        graph_check_same(&g, &back.graph);
        sali_content_free(&back);
        sali_graph_free(&g);
    }
    char text[500];
    sali_graph g = { 0 };
    snprintf(text, sizeof text, form, "INTEGER");
    ck_fails(parse_inner(text, &g, &err), SAL_ERR_DATA, &err,
             "f:1: expected the vartype SPIN or BINARY, found 'INTEGER'");
}
END_TEST

/* ---- structure */

START_TEST(nodes_may_come_after_their_edges)
{
    static const char *const names[] = { "b", "x", "a" };
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_ok(parse_inner("<graph>" EDGE("") "<node id='b'/><node id='x'/><node id='a'/></graph>", &g,
                      &err),
          &err);
    graph_check(&g, 3, names, NULL, 1, &(graph_edge){ 2, 0, 1 });
    sali_graph_free(&g);
}
END_TEST

START_TEST(prefixes_ports_and_strangers_do_not_matter)
{
    static const char *const names[] = { "<&>\"'", "\xc3\xa9" };
    static const char text[] =
        "<?xml version='1.0'?><!-- <a> --><g:graphml xmlns:g='urn:g' xmlns:y='urn:y'>"
        "<g:desc>of <b/></g:desc><y:key id='w' for='edge' attr.name='weight'/>"
        "<g:key id='w' for='edge' attr.name='weight' attr.type='double'/>"
        "<graph><node id='none'/></graph><g:graph parse.nodes='2'>"
        "<g:locator/><g:node id='&lt;&amp;&gt;&quot;&#39;'><g:port name='p'><g:port name='q'/>"
        "<g:data key='no'>1</g:data></g:port></g:node><y:node id='stranger'/>"
        "<g:node id='&#xe9;'/><y:graph/>"
        "<g:edge source='&#xe9;' target='&lt;&amp;&gt;&quot;&apos;' sourceport='p' directed='true'>"
        "<g:data key='w'><y:e>1</y:e>3<y:e><g:data key='w'>9</g:data></y:e></g:data></g:edge>"
        "</g:graph><y:rest/></g:graphml>";
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_assert(sali_format_recognises(graphml, text, sizeof text - 1));
    ck_ok(graph_parse(graphml, text, &g, &err), &err);
    graph_check(&g, 2, names, NULL, 1, &(graph_edge){ 1, 0, 3 });
    sali_graph_free(&g);
}
END_TEST

START_TEST(names_are_kept_unless_they_only_count)
{
    static const struct {
        const char *nodes;
        const char *first; /* NULL: names only count */
    } cases[] = {
        { "<node id='0'/><node id='1'/>", NULL },
        { "<node id='n0'/><node id='n1'/>", NULL },
        { "<node id='1'/><node id='0'/>", "1" },
        { "<node id='1'/><node id='2'/>", "1" },
        { "<node id='00'/><node id='1'/>", "00" },
        { "<node id='n0'/><node id='1'/>", "n0" },
        { "<node id='n0'><data key='l'>x</data></node><node id='n1'><data key='l'/></node>", "x" },
        { "<node id='n0'><data key='l'>x</data></node><node id='n1'/>", NULL },
        { "<node id='p'><data key='l'>x</data></node><node id='q'/>", "p" },
        { "<node id='p'/><node id='q'><data key='l'>x</data></node>", "p" },
        { "<node id='p'><data key='l'>x</data></node><node id='q'><data key='l'>x</data></node>",
          "p" },
        { "<node id='p'><data key='l'>x</data></node><node id='q'><data key='l'>y</data></node>",
          "p" },
        { "<node id='n0'><data key='l'>x</data></node><node id='n1'><data key='l'>x</data></node>",
          NULL },
        { "<node id='n0'><data key='l'>0</data></node><node id='n1'><data key='l'>1</data></node>",
          NULL },
        { "<node id='n0'><data key='i'>x</data></node><node id='n1'><data key='i'>y</data></node>",
          NULL }, /* "id" is not looked at where there is "name" */
        { "<node id='0'><data key='l'>x</data></node><node id='1'><data key='l'>y</data></node>",
          NULL },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        char text[1000];
        sal_error err = { 0 };
        sali_graph g = { 0 };
        snprintf(text, sizeof text,
                 "<key id='i' for='node' attr.name='id' attr.type='string'/>"
                 "<key id='l' for='node' attr.name='name' attr.type='string'/><graph>%s</graph>",
                 cases[k].nodes);
        ck_ok(parse_inner(text, &g, &err), &err);
        ck_assert_int_eq(!g.names, !cases[k].first);
        ck_assert(!g.names || strcmp(g.names[0], cases[k].first) == 0);
        sali_graph_free(&g);
    }
}
END_TEST

/* igraph puts the ids of a file that it read into the attribute "id" of the one that it writes. */
START_TEST(ids_that_igraph_moved_are_names)
{
    static const char *const names[] = { "5", "b" };
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_ok(parse_inner("<key id='v_id' for='node' attr.name='id' attr.type='string'/><graph>"
                      "<node id='n0'><data key='v_id'>5</data></node>"
                      "<node id='n1'><data key='v_id'>b</data></node></graph>",
                      &g, &err),
          &err);
    graph_check(&g, 2, names, NULL, 0, NULL);
    sali_graph_free(&g);
}
END_TEST

/* ---- what is refused */

START_TEST(bad_graphs_are_refused)
{
    static const struct {
        const char *text; /* in <graphml> */
        const char *message;
    } cases[] = {
        { "", "f:1: no graph with nodes" },
        { "<graph/>", "no graph with nodes" },
        { "\n<graph>\n<node/></graph>", "f:3: <node> without id" },
        { "<graph>" NODES("") "<edge source='a'/></graph>", "<edge> without target" },
        { "<graph>" NODES("<data>1</data>") "</graph>", "<data> without key" },
        { "<key for='node'/>", "<key> without id" },
        { "<graph>" NODES("") "\n<node id='a'/></graph>", "f:2: node 'a' again" },
        { "<graph>\n" EDGE("") "<node id='b'/>\n</graph>",
          "f:2: an edge of node 'a', which is not there" },
        { "<graph>" NODES("") "<edge source='a' target='a'/></graph>",
          "an edge from node 'a' to itself; models of graphs have no such edges: remove it" },
        { "<graph>" NODES("<graph/>") "</graph>", "a graph within a graph" },
        { "<graph><node id='a'/><graph/></graph>", "a graph within a graph" },
        { "<graph>" NODES("") "</graph><graph/>", "a second graph" },
        { "<graph><hyperedge/></graph>", "a hyperedge; expected edges of two nodes" },
        { "<graph>" NODES("<data key='w'>1</data>") "</graph>",
          "data of a key 'w' that is not declared" },
        { WEIGHT "<key id='w' for='edge' attr.name='J'/>", "a key's id again, for another" },
        { WEIGHT "<key id='w' attr.name='J'/>", "a key's id again, for another" },
        { "<key id='w' for='node' attr.name='h' attr.type='number'/>",
          "the attribute 'h' of nodes has the type 'number'; expected int, integer, long" },
        { "<key id='b' for='edge' attr.name='bias'/><graph>" NODES("") EDGE("") "</graph>",
          "give the graph the attribute vartype, SPIN or BINARY" },
        { "<graph>" NODES("") "</graph>" WEIGHT, "a key after the graph" },
        { "<key id='w' for='edge' attr.name='weight' attr.type='string'/>",
          "the attribute 'weight' of edges has a type of text" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>\nnan</data>") "</graph>",
          "f:1: expected a finite number, found 'nan'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>inf</data>") "</graph>", "found 'inf'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>1e999</data>") "</graph>", "'1e999'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>0x</data>") "</graph>", "'0x'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>0x1p</data>") "</graph>", "'0x1p'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>0x.p1</data>") "</graph>", "'0x.p1'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>0x1p9999</data>") "</graph>", "'0x1p" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>true</data>") "</graph>", "'true'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'>1 2</data>") "</graph>",
          "expected the end of the file, found '2'" },
        { WEIGHT "<graph>" NODES("") EDGE("<data key='w'> </data>") "</graph>",
          "expected a finite number, found nothing" },
        { WEIGHT "<graph>" NODES("")
              EDGE("<data key='w'>1</data><data key='w'>2</data>") "</graph>",
          "a second weight of the same node or edge" },
        { "<key id='w' for='edge' attr.name='weight'><default>x</default></key>", "found 'x'" },
        { "<graph>", "f:1: " },
        { "<graph><node id='&unknown;'/></graph>", "f:1: " },
        { "<graph><node id='a' id='b'/></graph>", "f:1: " },
    };
    sal_error err = { 0 };
    sali_graph g = { 0 };
    for (int64_t k = 0; k < N(cases); k++) {
        ck_fails(parse_inner(cases[k].text, &g, &err), SAL_ERR_DATA, &err, cases[k].message);
    }
    ck_fails(graph_parse(graphml, "<gexf/>", &g, &err), SAL_ERR_DATA, &err,
             "f:1: expected <graphml>, found <gexf>");
    ck_fails(graph_parse(graphml, "", &g, &err), SAL_ERR_DATA, &err, "f:1: ");
    ck_fails(graph_parse(graphml, "1 2", &g, &err), SAL_ERR_DATA, &err, "f:1: ");
    ck_assert_ptr_null(g.pairs);
}
END_TEST

/* <graphml>, elements in one another that declare three namespaces each, then more elements. */
static char *many_namespaces(int namespaces, const char *rest)
{
    char *text = malloc(10000), *p = text;
    ck_assert_ptr_nonnull(text);
    p += sprintf(p, "<graphml>");
    for (int k = 0; k < namespaces; k++) {
        p += sprintf(p, k % 3 ? " xmlns:n%d='u'%s" : "<a xmlns:n%d='u'%s", k,
                     k % 3 == 2 || k + 1 == namespaces ? ">" : "");
    }
    for (int k = 0; k < namespaces; k += 3) {
        p += sprintf(p, "</a>");
    }
    strcpy(p, rest);
    return text;
}

/* A search through them at every element would be quadratic. */
START_TEST(many_namespaces_are_refused)
{
    static const char rest[] = "<graph><node id='a'/></graph></graphml>";
    sal_error err = { 0 };
    sali_graph g = { 0 };
    for (int k = 0; k < 2; k++) {
        char *text = many_namespaces(k == 0 ? 60 : 150, rest);
        sal_status status = graph_parse(graphml, text, &g, &err);
        ck_assert_msg(status == (k == 0 ? SAL_OK : SAL_ERR_DATA), "%d: %s", k, err.message);
        ck_assert(k == 0 || strstr(err.message, "f:1: too many namespaces"));
        sali_graph_free(&g);
        free(text);
    }
}
END_TEST

START_TEST(hostile_xml_is_refused)
{
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_fails(graph_parse(graphml,
                         "<!DOCTYPE graphml [<!ENTITY a 'aaaaaaaa'><!ENTITY b '&a;&a;&a;'>]>"
                         "<graphml><graph><node id='&b;'/></graph></graphml>",
                         &g, &err),
             SAL_ERR_DATA, &err, "f:1: a DOCTYPE is not accepted; remove it");
    ck_fails(graph_parse(graphml,
                         "<!DOCTYPE graphml SYSTEM '/etc/passwd'><graphml><graph>"
                         "<node id='a'/></graph></graphml>",
                         &g, &err),
             SAL_ERR_DATA, &err, "a DOCTYPE is not accepted");
    char *deep = malloc(40000);
    ck_assert_ptr_nonnull(deep);
    strcpy(deep, "<graphml>");
    for (size_t k = strlen(deep); k < 30000; k += 3) {
        memcpy(deep + k, "<a>", 4);
    }
    ck_fails(graph_parse(graphml, deep, &g, &err), SAL_ERR_DATA, &err,
             "f:1: elements are nested too deeply");
    free(deep);
    char wide[3][8000];
    for (int k = 0; k < 3; k++) { /* 256 attributes, one more, and as many in a comment */
        char *p = wide[k] + sprintf(wide[k], "<graphml>\n%s", k == 2 ? "<!-- <a" : "<graph><node");
        for (int a = 0; a < (k == 0 ? 255 : 256 + 20 * (k - 1)); a++) {
            p += sprintf(p, " a%d='>'", a);
        }
        strcpy(p, k == 2 ? "--><graph><node id='a'/></graph></graphml>"
                         : " id=\"a\"/></graph></graphml>");
        sal_status status = graph_parse(graphml, wide[k], &g, &err);
        ck_assert_msg(status == (k == 1 ? SAL_ERR_DATA : SAL_OK), "%d: %s", k, err.message);
        ck_assert(k != 1 || strstr(err.message, "f:2: a tag with more than 256 attributes"));
        sali_graph_free(&g);
    }
    temp_sweep(parse_bytes, by_networkx, sizeof by_networkx - 1);
    temp_sweep(parse_bytes, as_gephi, sizeof as_gephi - 1);
}
END_TEST

START_TEST(documents_are_told_by_their_root)
{
    static const char *const others[] = { "",          "<",
                                          "<?",        "graphml",
                                          "<!-- ",     "<saltus><graphml/></saltus>",
                                          "<graphmlx", "<graphm",
                                          "<x>",       "<x a='graphml'/>",
                                          "<x:y>",     "text <graphml>",
                                          "<?graphml", "<!-- <graphml> --><a/>" };
    static const char *const good[] = { "\xef\xbb\xbf <graphml>", "<?xml?>\n<!--<a>-->\t<graphml",
                                        "<g:graphml xmlns", "<graphml/>" };
    for (int64_t k = 0; k < N(others); k++) {
        ck_assert(!sali_format_recognises(graphml, others[k], (int64_t)strlen(others[k])));
    }
    for (int64_t k = 0; k < N(good); k++) {
        ck_assert(sali_format_recognises(graphml, good[k], (int64_t)strlen(good[k])));
    }
}
END_TEST

/* ---- writing */

START_TEST(written_graphs_read_back)
{
    static const graph_edge edges[] = {
        { 0, 1, 0.1 },     { 1, 0, -5e-324 }, { 3, 1, 1.7976931348623157e308 },
        { 0, 1, 1.0 / 3 }, { 2, 3, -0.0 },    { 0, 3, 1e17 + 16 }
    };
    static const char *const names[] = { "<a&\"'>", "tab\tand\nnewline", "\xe2\x82\xac", " " };
    sal_error err = { 0 };
    for (int named = 0; named < 2; named++) {
        sali_content content = { .kind = SALI_CONTENT_GRAPH,
                                 .graph = graph_make(4, N(edges), edges) },
                     back = { 0 };
        sali_graph *g = &content.graph;
        g->names = named ? SALI_NEW_ARRAY(char *, 4) : NULL;
        g->node_weights = named ? SALI_NEW_ARRAY(double, 4) : NULL;
        for (int k = 0; named && k < 4; k++) {
            g->names[k] = sali_strdup(names[k]);
            g->node_weights[k] = 1e-5 * k;
        }
        const char *path = temp_path("a.graphml");
        ck_ok(sali_content_write(path, NULL, &content, &err), &err);
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_GRAPH, &back, NULL, &err), &err);
        graph_check_same(g, &back.graph);
        sali_content_free(&back);
        sali_content_free(&content);
    }
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(graphml_survives_failing_allocations)
{
    sal_error err = { 0 };
    sali_graph g = { 0 };
    ck_alloc_sweep(graph_parse(graphml, by_igraph, &g, &err), sali_graph_free(&g));
    ck_alloc_sweep(graph_parse(graphml, as_gephi, &g, &err), sali_graph_free(&g));
    sali_content content = { .kind = SALI_CONTENT_GRAPH };
    ck_ok(graph_parse(graphml, by_networkx, &content.graph, &err), &err);
    const char *path = temp_path("a.graphml");
    ck_alloc_sweep(sali_format_write(graphml, path, &content, &err), (void)0);
    sali_content_free(&content);
}
END_TEST

/* ---- the table of names */

START_TEST(names_have_the_numbers_of_their_coming)
{
    sali_name_table table = { 0 };
    char name[40];
    ck_assert_int_eq(sali_name_table_find(&table, "a", 1), -1);
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < 5000; k++) {
            snprintf(name, sizeof name, "%.*s%d", k % 20, "a long common beginning", k);
            ck_assert_int_eq(sali_name_table_put(&table, name, (int64_t)strlen(name)), k);
        }
    }
    ck_assert_int_eq(table.count, 5000);
    for (int k = 0; k < 5000; k++) { /* with NULs behind a name it is another */
        memset(name, 0, sizeof name);
        snprintf(name, sizeof name, "%.*s%d", k % 20, "a long common beginning", k);
        for (int64_t size = (int64_t)strlen(name) + 1; size < (int64_t)sizeof name; size++) {
            ck_assert_int_eq(sali_name_table_find(&table, name, size), -1);
        }
    }
    ck_assert_int_eq(sali_name_table_put(&table, "", 0), 5000);
    ck_assert_int_eq(sali_name_table_find(&table, "", 0), 5000);
    ck_assert_int_eq(sali_name_table_find(&table, "0", 1), 0);
    ck_assert_int_eq(sali_name_table_find(&table, "0x", 1), 0);
    ck_assert_int_eq(sali_name_table_find(&table, "0x", 2), -1);
    ck_assert_str_eq(table.names[1], "a1");
    sali_name_table_clear(&table);
    ck_assert_int_eq(table.count, 0);
    char prefix[2001];
    memset(prefix, 'x', sizeof prefix);
    for (int k = 0; k < 2000; k++) { /* each is the beginning of those before */
        ck_assert_int_eq(sali_name_table_put(&table, prefix, 2000 - k), k);
    }
    sali_name_table_clear(&table);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_graphml");
    TCase *tcase = tcase_create("graphml");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, all_programs_write_the_same_graph);
    tcase_add_test(tcase, directions_and_parallel_edges_are_terms_of_their_own);
    tcase_add_test(tcase, attributes_are_known_by_name_not_by_id);
    tcase_add_test(tcase, weights_of_nodes_are_found);
    tcase_add_test(tcase, nodes_and_edges_may_share_the_id_of_a_key);
    tcase_add_test(tcase, couplings_are_energies_of_spins);
    tcase_add_test(tcase, energies_that_the_attribute_tells_have_a_remark);
    tcase_add_test(tcase, numbers_that_are_passed_over_have_a_remark);
    tcase_add_test(tcase, missing_values_have_a_remark);
    tcase_add_test(tcase, an_energy_that_is_missing_is_0);
    tcase_add_test(tcase, a_graph_by_itself_is_its_energy_or_the_ising_model_of_its_weights);
    tcase_add_test(tcase, energies_are_told_by_the_vartype);
    tcase_add_test(tcase, nodes_may_come_after_their_edges);
    tcase_add_test(tcase, prefixes_ports_and_strangers_do_not_matter);
    tcase_add_test(tcase, names_are_kept_unless_they_only_count);
    tcase_add_test(tcase, ids_that_igraph_moved_are_names);
    tcase_add_test(tcase, bad_graphs_are_refused);
    tcase_add_test(tcase, hostile_xml_is_refused);
    tcase_add_test(tcase, many_namespaces_are_refused);
    tcase_add_test(tcase, documents_are_told_by_their_root);
    tcase_add_test(tcase, written_graphs_read_back);
    tcase_add_test(tcase, graphml_survives_failing_allocations);
    tcase_add_test(tcase, names_have_the_numbers_of_their_coming);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
