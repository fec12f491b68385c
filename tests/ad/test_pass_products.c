/* SPDX-License-Identifier: MIT */
/* Sums of products that become edges and tables, however they are written; and those that do not.
 */
#include "gradient_fixture.h"

#include <saltus/model.h>

#include "alloc_fail.h"

enum { RING = 16, COLUMNS = 3 };

/* Ways to write sum_i w_i s_i s_(i+1) of a ring's neighbours, and more of degree two at most. */
static sal_expr left_of(sal_expr s)
{
    return sal_slice(s, 0, 0, RING - 1);
}

static sal_expr right_of(sal_expr s)
{
    return sal_slice(s, 0, 1, RING - 1);
}

static sal_expr steps(sal_tape *tape)
{
    double w[RING - 1];
    for (int64_t i = 0; i + 1 < RING; i++) {
        w[i] = 0.1 * (double)(i - 3);
    }
    return sal_constant(tape, w, SAL_SHAPE(RING - 1));
}

static sal_expr by_slices(sal_expr s)
{
    return sal_sum(sal_mul(left_of(s), right_of(s)));
}

static sal_expr by_dot(sal_expr s)
{
    return sal_scale(sal_dot(sal_scale(left_of(s), 2), right_of(s)), -0.5);
}

static sal_expr by_mean(sal_expr s)
{
    return sal_mean(sal_mul(steps(s.tape), sal_mul(left_of(s), right_of(s))));
}

/* A table of columns, both ways, with a field and a constant: one list of edges. */
static sal_expr by_lattice(sal_expr s)
{
    const int64_t columns = COLUMNS;
    sal_expr S = sal_reshape(s, SAL_SHAPE(RING, columns));
    sal_expr down = sal_mul(sal_slice(S, 0, 0, RING - 1), sal_slice(S, 0, 1, RING - 1));
    sal_expr across = sal_mul(sal_slice(S, 1, 0, columns - 1), sal_slice(S, 1, 1, columns - 1));
    sal_expr sum = sal_sub(sal_sum(down), sal_scale(sal_sum(across), 0.3));
    sum = sal_add(sum, sal_scale(sal_sum(s), 0.2));
    return sal_add(sum, sal_scalar(s.tape, 1.5));
}

static sal_expr by_differences(sal_expr s)
{
    return sal_sum(sal_sub(sal_mul(left_of(s), right_of(s)),
                           sal_div(sal_mul(left_of(s), left_of(s)), sal_scalar(s.tape, 4))));
}

/* Weights that are parameters: one each, one for all. */
static sal_expr by_weights(sal_expr s)
{
    sal_expr J = sal_param(s.tape, "J", SAL_SHAPE(RING - 1, 1));
    sal_expr flat = sal_exp(sal_reshape(J, SAL_SHAPE(RING - 1)));
    return sal_sum(sal_mul(sal_mul(flat, left_of(s)), sal_scale(right_of(s), 3)));
}

static sal_expr by_coupling(sal_expr s)
{
    sal_expr theta = sal_param(s.tape, "J", SAL_SHAPE(1));
    return sal_sum(sal_mul(theta, sal_mul(left_of(s), right_of(s))));
}

static sal_expr element(sal_expr x, int64_t i)
{
    return sal_slice(x, 0, i, 1);
}

/* Edge by edge, as a loop of a user's. */
static sal_expr by_loop(sal_expr s)
{
    sal_expr sum = sal_scalar(s.tape, 0);
    for (int64_t i = 0; i + 1 < RING; i++) {
        sal_expr product = sal_mul(element(s, i), sal_scale(element(s, i + 1), 0.5 + (double)i));
        sum = sal_add(sum, sal_sum(product));
    }
    return sum;
}

/* The same with a field and weights that are parameters. */
static sal_expr by_loop_of_weights(sal_expr s)
{
    sal_expr J = sal_param(s.tape, "J", SAL_SHAPE(RING - 1));
    sal_expr h = sal_param(s.tape, "h", SAL_SHAPE(RING));
    sal_expr sum = sal_sum(sal_mul(element(h, 0), element(s, 0)));
    for (int64_t i = 0; i + 1 < RING; i++) {
        sal_expr field = sal_mul(element(h, i + 1), sal_scale(element(s, i + 1), 2));
        sal_expr pair = sal_mul(element(J, i), sal_mul(element(s, i), element(s, i + 1)));
        sum = sal_add(sum, sal_sum(sal_sub(pair, field)));
    }
    return sum;
}

typedef struct writing {
    sal_expr (*form)(sal_expr s);
    int64_t columns;
    int64_t pairs; /* that it sums, each once */
} writing;

static const writing writings[] = {
    { by_slices, 1, RING - 1 },
    { by_dot, 1, RING - 1 },
    { by_mean, 1, RING - 1 },
    { by_lattice, COLUMNS, (RING - 1) * COLUMNS + RING *(COLUMNS - 1) },
    { by_differences, 1, 2 * (RING - 1) },
    { by_weights, 1, RING - 1 },
    { by_coupling, 1, RING - 1 },
    { by_loop, 1, RING - 1 },
    { by_loop_of_weights, 1, RING - 1 },
};
enum { WRITINGS = sizeof writings / sizeof *writings };

static int64_t pairs_of(const sali_program *program, int *lists)
{
    int64_t pairs = 0;
    *lists = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        if (node->op == SALI_OP_edges) {
            ck_assert_int_eq(program->nodes[node->in[0]].op, SALI_OP_state);
            pairs += node->n_ints / 2;
            ++*lists;
        }
        ck_assert(node->op != SALI_OP_slice || !node->varying);
    }
    return pairs;
}

/* The same f and gradients by the state and by parameters with the pass as without, at points that
 * are no states too. The program with it is returned. */
static fixture *check_same(sal_tape *tape, sal_expr form)
{
    fixture *f[2];
    for (int k = 0; k < 2; k++) {
        sal_tape_set_passes(tape, k ? SAL_PASS_DEFAULT : SAL_PASS_DEFAULT & ~SAL_PASS_PRODUCTS);
        f[k] = fixture_create(tape, form, true);
        evaluate(f[k], MOST_CHAINS);
    }
    for (int64_t c = 0; c < MOST_CHAINS; c++) {
        ck_assert_double_eq_tol(f[1]->f[c], f[0]->f[c], 1e-12 * (1 + fabs(f[0]->f[c])));
    }
    for (int64_t k = 0; k < MOST_CHAINS * f[0]->width; k++) {
        ck_assert_double_eq_tol(f[1]->gradient[k], f[0]->gradient[k], 1e-12);
    }
    ck_assert_int_eq(f[0]->program->parameters_size, f[1]->program->parameters_size);
    for (int64_t k = 0; k < f[0]->program->parameters_size; k++) {
        ck_assert_double_eq_tol(f[1]->parameters[k], f[0]->parameters[k], 1e-11);
    }
    fixture_destroy(f[0]);
    return f[1];
}

/* One list of edges of the state and no slices. */
START_TEST(products_become_edges)
{
    const writing *w = &writings[_i];
    sal_tape *tape = tape_over(RING * w->columns, SAL_F64);
    fixture *f = check_same(tape, w->form(sal_state(tape)));
    int lists;
    ck_assert_int_eq(pairs_of(f->program, &lists), w->pairs);
    ck_assert_int_eq(lists, 1);
    fixture_destroy(f);
    sal_tape_destroy(tape);
}
END_TEST

/* ---- products of three and more */

/* Binary variables, spins, two levels of an ordinal one, and one-hot states. */
static sal_tape *tape_of_kinds(void)
{
    static const double levels[] = { 0.5, 2 };
    static const sal_block blocks[] = {
        { .name = "x", .kind = SAL_BINARY, .count = 3 },
        { .name = "s", .kind = SAL_SPIN, .count = 3 },
        { .name = "o", .kind = SAL_ORDINAL, .count = 1, .levels = levels, .states = 2 },
        { .name = "c", .kind = SAL_CATEGORICAL, .count = 2, .states = 3 },
    };
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    for (int k = 0; k < 4; k++) {
        ck_ok(sal_space_add(space, &blocks[k], &err), &err);
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    return tape;
}

enum { TRIPLES = 5 };

static sal_expr taken(sal_expr x, const int64_t *index)
{
    return sal_gather(x, 0, TRIPLES, index);
}

/* sum_e K_e s_i s_j s_k, with a product of four of them, pairs, a field and a constant. */
static sal_expr cubic(sal_tape *tape)
{
    static const int64_t index[][TRIPLES] = { { 0, 1, 3, 6, 7 },
                                              { 3, 4, 5, 2, 12 },
                                              { 6, 8, 10, 1, 4 } };
    sal_expr s = sal_state(tape), K = sal_param(tape, "K", SAL_SHAPE(TRIPLES));
    sal_expr pair = sal_mul(taken(s, index[0]), taken(s, index[1]));
    sal_expr f = sal_dot(K, sal_mul(pair, sal_scale(taken(s, index[2]), -2)));
    sal_expr four =
        sal_mul(sal_mul(element(s, 0), element(s, 3)), sal_mul(element(s, 9), element(s, 11)));
    f = sal_add(f, sal_scale(sal_sum(four), 0.7));
    f = sal_add(f, sal_add(sal_sum(pair), sal_dot(K, taken(s, index[1]))));
    return sal_add(f, sal_scalar(tape, 3));
}

static int count_ops(const sali_program *program, sali_op_id op)
{
    int count = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        count += program->nodes[i].op == op;
    }
    return count;
}

START_TEST(longer_products_become_tables)
{
    sal_tape *tape = tape_of_kinds();
    fixture *f = check_same(tape, cubic(tape));
    ck_assert_int_eq(count_ops(f->program, SALI_OP_table), 2); /* with K and without */
    ck_assert_int_eq(count_ops(f->program, SALI_OP_edges), 1);
    fixture_destroy(f);
    sal_tape_destroy(tape);
}
END_TEST

/* Squares, levels of more than two, and too many states for a table. */
START_TEST(other_products_stay)
{
    static const double levels[] = { 0, 1, 3 };
    static const sal_block blocks[] = {
        { .name = "s", .kind = SAL_SPIN, .count = 8 },
        { .name = "o", .kind = SAL_ORDINAL, .count = 1, .levels = levels, .states = 3 },
        { .name = "c", .kind = SAL_CATEGORICAL, .count = 2, .states = 9 },
    };
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    for (int k = 0; k < 3; k++) {
        ck_ok(sal_space_add(space, &blocks[k], &err), &err);
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    sal_expr s = sal_state(tape), pair = sal_mul(element(s, 0), element(s, 1));
    sal_expr seven = sal_slice(s, 0, 0, 2); /* two of them: one is a sum of its own */
    for (int64_t i = 1; i < 7; i++) {
        seven = sal_mul(seven, sal_slice(s, 0, i, 2));
    }
    const sal_expr forms[] = { sal_mul(pair, element(s, 1)), sal_mul(pair, element(s, 8)), seven,
                               sal_mul(element(s, 0), sal_mul(element(s, 9), element(s, 18))) };
    for (int k = 0; k < 4; k++) {
        fixture *f = check_same(tape, sal_sum(forms[k]));
        ck_assert_int_eq(count_ops(f->program, SALI_OP_table), 0);
        fixture_destroy(f);
    }
    sal_tape_destroy(tape);
}
END_TEST

static int lists_of(sal_tape *tape, sal_expr f)
{
    sali_program *program = NULL;
    sal_error err = { 0 };
    ck_ok(sali_program_create(tape, f, &program, &err), &err);
    int lists = count_ops(program, SALI_OP_edges);
    sali_program_destroy(program);
    return lists;
}

/* Squares alone, squares in products of three, weights that are products of two parameters,
 * functions of what a product is made of, dense forms; and a sum of two lists that are edges
 * already. Weights of each parameter are a list of their own. */
START_TEST(other_sums_stay)
{
    sal_tape *tape = tape_over(RING, SAL_F64);
    sal_expr s = sal_state(tape), left = left_of(s), right = right_of(s);
    sal_expr J = sal_param(tape, "J", SAL_SHAPE(RING - 1));
    sal_expr h = sal_param(tape, "h", SAL_SHAPE(RING - 1));
    sal_expr A = sal_param(tape, "A", SAL_SHAPE(RING, RING));
    sal_expr product = sal_mul(left, right);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_mul(left, left))), 0);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_square(left))), 0);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_mul(product, left))), 0);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_mul(sal_mul(J, h), product))), 1);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_mul(J, sal_mul(h, product)))), 0);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_add(sal_mul(J, left), product))), 1);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_add(sal_mul(J, product), product))), 2);
    sal_expr two = sal_add(sal_mul(J, product), sal_mul(h, product));
    ck_assert_int_eq(lists_of(tape, sal_sum(two)), 2);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_mul(sal_exp(left), right))), 0);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_exp(product))), 0);
    ck_assert_int_eq(lists_of(tape, sal_quad(s, A)), 0);
    ck_assert_int_eq(lists_of(tape, sal_dot(s, sal_matvec(A, s))), 0);
    ck_assert_int_eq(lists_of(tape, sal_sum(sal_mul(s, sal_cumsum(s)))), 0);
    sal_expr both = sal_add(sal_sum(product), sal_sum(sal_exp(s)));
    ck_assert_int_eq(lists_of(tape, both), 1); /* the one within */
    ck_assert_int_eq(
        lists_of(tape, sal_add(sal_scale(both, 2), sal_dot(sal_scale(left, 3), right))), 2);
    sal_tape_destroy(tape);
}
END_TEST

/* A long way to a coordinate, very many sums of the same elements, and a long sum that holds what
 * is no product: the pass gives up in time, and f stays what it is. What is within is found. A long
 * sum of products is one list. */
START_TEST(long_ways_are_left)
{
    sal_tape *tape = tape_over(RING, SAL_F64);
    sal_expr s = sal_state(tape), deep = s, sum = sal_scalar(tape, 0);
    for (int k = 0; k < 100; k++) {
        deep = sal_scale(deep, k % 2 ? 2 : 0.5);
    }
    ck_assert_int_eq(lists_of(tape, sal_dot(left_of(deep), right_of(deep))), 0);
    for (int k = 0; k < 3000; k++) {
        sum = sal_add(sum, sal_exp(sal_dot(left_of(s), right_of(s))));
    }
    sal_expr product = sal_mul(left_of(s), right_of(s));
    ck_assert_int_eq(lists_of(tape, sal_add(sum, sal_scale(sal_sum(product), 3))), 2);
    sum = sal_sum(product);
    for (int64_t k = 0; k < 3000; k++) {
        sum = sal_add(sum, sal_sum(sal_mul(element(s, k % 5), element(s, 5 + k % 7))));
    }
    ck_assert_int_eq(lists_of(tape, sum), 1);
    sal_tape_destroy(tape);
}
END_TEST

/* The formula is seen to be multilinear then, so that its gradient gives the differences. */
START_TEST(lattices_by_slices_are_multilinear)
{
    for (int k = 0; k < 2; k++) {
        sal_tape *tape = tape_over(RING * COLUMNS, SAL_F64);
        sal_model *model = NULL;
        sal_error err = { 0 };
        sal_tape_set_passes(tape, k ? SAL_PASS_DEFAULT : SAL_PASS_DEFAULT & ~SAL_PASS_PRODUCTS);
        ck_ok(sal_model_from_tape(tape, by_lattice(sal_state(tape)), &model, &err), &err);
        ck_assert_int_eq(sal_model_is_multilinear(model), k);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
    }
}
END_TEST

START_TEST(failed_allocations_leak_nothing)
{
    sal_tape *tape = _i ? tape_of_kinds() : tape_over(RING * COLUMNS, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr form = _i ? cubic(tape) : sal_add(by_lattice(s), by_weights(s));
    sali_program *program = NULL;
    sal_error err;
    ck_alloc_sweep(sali_program_create(tape, form, &program, &err), sali_program_destroy(program));
    sal_tape_destroy(tape);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pass_products");
    TCase *tc = tcase_create("products");
    tcase_add_loop_test(tc, products_become_edges, 0, WRITINGS);
    tcase_add_test(tc, longer_products_become_tables);
    tcase_add_test(tc, other_products_stay);
    tcase_add_test(tc, other_sums_stay);
    tcase_add_test(tc, long_ways_are_left);
    tcase_add_test(tc, lattices_by_slices_are_multilinear);
    tcase_add_loop_test(tc, failed_allocations_leak_nothing, 0, 2);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
