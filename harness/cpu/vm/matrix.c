/* Small matrices that a warp holds together. Products are exact sums where doubles can hold them,
 * rounded once at the end: the PTX ISA leaves order and intermediate precision open, and a GPU may
 * differ in the last place. Integers are exact. */
#include "cpu/vm/matrix.h"
#include "cpu/vm/check.h"
#include "cpu/vm/scalar.h"

#include <string.h>

enum { ROWS_MOST = 32, DEPTH_MOST = 256, COLUMNS_MOST = 32 };

unsigned matrix_bits(enum matrix_type t)
{
    static const uint8_t BITS[MATRIX_TYPE_COUNT] = {
        [MATRIX_F16] = 16, [MATRIX_BF16] = 16, [MATRIX_TF32] = 32, [MATRIX_F32] = 32,
        [MATRIX_F64] = 64, [MATRIX_S32] = 32,  [MATRIX_S8] = 8,    [MATRIX_U8] = 8,
        [MATRIX_S4] = 4,   [MATRIX_U4] = 4,    [MATRIX_B1] = 1};
    return BITS[t];
}

static unsigned per_register(enum matrix_type t)
{
    return t == MATRIX_F64 ? 1 : 32 / matrix_bits(t);
}

/* Registers of a and b are blocks of 8 rows (or columns) by 4 lanes: PTX ISA, "Matrix fragments
 * for mma". Those of wmma's larger matrices follow each other, and repeat when there are more
 * registers than elements. */
struct matrix_place matrix_place(const struct matrix_op *op, char role, enum matrix_type type,
                                 unsigned r, unsigned e, unsigned lane)
{
    unsigned group = lane / 4, in_group = lane % 4, each = per_register(type);
    if (role == 'c') {
        unsigned i = r * each + e, per_block = op->m == 8 ? 2 : 4, block = i / per_block;
        struct matrix_place p = {.row = group, .column = in_group * 2 + (i & 1)};
        if (op->m != 8)
            p.row += 8 * (i >> 1 & 1);
        if (op->m == 32)
            p.row += 16 * block;
        else
            p.column += 8 * block;
        return p;
    }
    unsigned deep = op->k / (4 * each); /* registers along k */
    if (role == 'b') {
        r %= deep * (op->n / 8u);
        return (struct matrix_place){.row = r % deep * 4 * each + in_group * each + e,
                                     .column = r / deep * 8 + group};
    }
    if (op->m == 8) {
        r %= deep;
        return (struct matrix_place){.row = group, .column = (r * 4 + in_group) * each + e};
    }
    r %= 2 * deep * (op->m / 16u);
    unsigned block = r / (2 * deep), q = r % (2 * deep);
    return (struct matrix_place){.row = 16 * block + group + 8 * (q & 1),
                                 .column = ((q >> 1) * 4 + in_group) * each + e};
}

/* ---- registers ---- */

static uint64_t read_register(const struct warp *w, const struct matrix_part *p, unsigned r,
                              unsigned lane)
{
    bool wide = p->type == MATRIX_F64;
    uint64_t v = 0;
    if (p->slot[r])
        memcpy(&v, w->bank + p->at[r], wide ? 8 : 4);
    else
        memcpy(&v, vm_lane(w->frame, p->at[r], lane, wide), wide ? 8 : 4);
    return v;
}

static void write_register(struct warp *w, const struct matrix_part *p, unsigned r, unsigned lane,
                           uint64_t v)
{
    bool wide = p->type == MATRIX_F64;
    memcpy(vm_lane(w->frame, p->at[r], lane, wide), &v, wide ? 8 : 4);
}

static uint64_t element(uint64_t bits, enum matrix_type t, unsigned e)
{
    unsigned width = matrix_bits(t);
    return width == 64 ? bits : bits >> (e * width) & ((1ull << width) - 1);
}

static int64_t as_integer(uint64_t bits, enum matrix_type t)
{
    unsigned width = matrix_bits(t);
    bool is_signed = t == MATRIX_S8 || t == MATRIX_S4 || t == MATRIX_S32;
    return is_signed ? (int64_t)(bits << (64 - width)) >> (64 - width) : (int64_t)bits;
}

static double as_real(uint64_t bits, enum matrix_type t)
{
    uint32_t narrow = (uint32_t)bits;
    float x;
    double y;
    switch ((int)t) {
    case MATRIX_F16:
        return (double)vm_half_to_float((uint16_t)bits);
    case MATRIX_BF16:
        return (double)vm_bfloat_to_float((uint16_t)bits);
    case MATRIX_F64:
        memcpy(&y, &bits, 8);
        return y;
    case MATRIX_TF32: /* the low bits are ignored */
        narrow &= 0xffffe000u;
        break;
    default:
        break;
    }
    memcpy(&x, &narrow, 4);
    return (double)x;
}

static uint64_t of_real(double x, enum matrix_type t)
{
    uint64_t bits;
    uint32_t narrow;
    if (t == MATRIX_F64) {
        memcpy(&bits, &x, 8);
        return bits;
    }
    if (t == MATRIX_F16)
        return vm_float_to_half(x, PTX_RN);
    float y = (float)x;
    memcpy(&narrow, &y, 4);
    return y != y ? 0x7fffffffu : narrow;
}

/* ---- products ---- */

static bool is_real(enum matrix_type t)
{
    return t <= MATRIX_F64;
}

/* One operand as a table [rows][columns] of what its elements are worth. */
union worth {
    double real;
    int64_t integer;
};

static void gather(const struct warp *w, const struct matrix_op *op, char role,
                   const struct matrix_part *p, union worth *to, unsigned columns)
{
    enum matrix_type t = (enum matrix_type)p->type;
    unsigned each = per_register(t);
    for (unsigned lane = 0; lane < VM_LANES; lane++)
        for (unsigned r = 0; r < p->count; r++) {
            uint64_t bits = read_register(w, p, r, lane);
            for (unsigned e = 0; e < each; e++) {
                struct matrix_place at = matrix_place(op, role, t, r, e, lane);
                uint64_t one = element(bits, t, e);
                union worth *x = &to[at.row * columns + at.column];
                if (is_real(t))
                    x->real = as_real(one, t);
                else
                    x->integer = as_integer(one, t);
            }
        }
}

static int64_t integer_product(const struct matrix_op *op, const union worth *a,
                               const union worth *b, int64_t sum)
{
    bool bits = op->a.type == MATRIX_B1;
    for (unsigned k = 0; k < op->k; k++, a++, b += op->n) {
        if (!bits)
            sum += a->integer * b->integer;
        else
            sum += op->uses_and ? a->integer & b->integer : a->integer ^ b->integer;
    }
    if (!op->saturates)
        return sum;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
}

static double real_product(const struct matrix_op *op, const union worth *a, const union worth *b,
                           double c)
{
    bool fused = op->d.type == MATRIX_F64; /* IEEE: one fma after the other */
    double sum = fused ? c : 0;
    for (unsigned k = 0; k < op->k; k++, a++, b += op->n)
        sum = fused ? __builtin_fma(a->real, b->real, sum) : sum + a->real * b->real;
    return fused ? sum : sum + c;
}

static void multiply(struct warp *w, const struct matrix_op *op, uint32_t m)
{
    static _Thread_local union worth a[ROWS_MOST * DEPTH_MOST], b[DEPTH_MOST * COLUMNS_MOST],
        c[ROWS_MOST * COLUMNS_MOST];
    enum matrix_type t = (enum matrix_type)op->d.type;
    unsigned each = per_register(t);
    const size_t deep = op->k, broad = op->n;
    gather(w, op, 'a', &op->a, a, op->k);
    gather(w, op, 'b', &op->b, b, op->n);
    gather(w, op, 'c', &op->c, c, op->n);
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        for (unsigned r = 0; r < op->d.count; r++) {
            uint64_t bits = 0;
            for (unsigned e = 0; e < each; e++) {
                struct matrix_place at = matrix_place(op, 'c', t, r, e, lane);
                const union worth *row = a + at.row * deep, *column = b + at.column;
                const union worth *old = c + at.row * broad + at.column;
                uint64_t one = is_real(t)
                                   ? of_real(real_product(op, row, column, old->real), t)
                                   : (uint32_t)integer_product(op, row, column, old->integer);
                bits |= one << (e * matrix_bits(t) % 64);
            }
            write_register(w, &op->d, r, lane, bits);
        }
    }
}

/* ---- 8x8 matrices of 16-bit elements ---- */

static void transpose(struct warp *w, const struct matrix_op *op, uint32_t m)
{
    uint16_t x[8][8];
    for (unsigned lane = 0; lane < VM_LANES; lane++) {
        uint64_t bits = read_register(w, &op->a, 0, lane);
        uint16_t *two = &x[lane / 4][(size_t)(lane % 4) * 2];
        two[0] = (uint16_t)bits;
        two[1] = (uint16_t)(bits >> 16);
    }
    for (uint32_t rest = m; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest), row = lane % 4 * 2;
        write_register(w, &op->d, 0, lane, x[row][lane / 4] | (uint32_t)x[row + 1][lane / 4] << 16);
    }
}

static uint64_t lane_base(const struct warp *w, const struct mem_op *op, unsigned lane)
{
    uint64_t x = 0;
    if (op->form == VM_ADDRESS_SLOT)
        memcpy(&x, w->bank + op->address, 8);
    else
        memcpy(&x, vm_lane(w->frame, op->address, lane, op->form == VM_ADDRESS_64),
               op->form == VM_ADDRESS_64 ? 8 : 4);
    x += (uint64_t)op->offset;
    return op->narrow ? (uint32_t)x : x;
}

/* Lane 8 j + i has the address of row i of matrix j. false: a fault. */
static bool reach_rows(struct warp *w, const struct matrix_op *op, uint32_t m, unsigned matrices)
{
    uint32_t lanes = m & (matrices == 4 ? VM_FULL : (1u << (8 * matrices)) - 1);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        w->lane_address[l] = lane_base(w, &op->memory, l);
    }
    return vm_mem_slow(w, &op->memory, lanes);
}

/* Where the two elements that a lane holds of matrix j are. */
static uint8_t *half_of(struct warp *w, const struct matrix_op *op, unsigned j, unsigned lane,
                        unsigned e)
{
    unsigned row = lane / 4, column = lane % 4 * 2 + e;
    if (op->transposed)
        return w->lane_host[8 * j + column] + (size_t)2 * row;
    return w->lane_host[8 * j + row] + (size_t)2 * column;
}

static void load_rows(struct warp *w, const struct matrix_op *op, uint32_t m)
{
    if (!reach_rows(w, op, m, op->d.count))
        return;
    for (unsigned j = 0; m == VM_FULL && j < op->d.count; j++)
        for (unsigned lane = 0; lane < VM_LANES; lane++) {
            uint16_t half[2];
            for (unsigned e = 0; e < 2; e++)
                memcpy(&half[e], half_of(w, op, j, lane, e), 2);
            write_register(w, &op->d, j, lane, half[0] | (uint32_t)half[1] << 16);
        }
}

static void store_rows(struct warp *w, const struct matrix_op *op, uint32_t m)
{
    if (!reach_rows(w, op, m, op->a.count))
        return;
    for (unsigned j = 0; m == VM_FULL && j < op->a.count; j++)
        for (unsigned lane = 0; lane < VM_LANES; lane++) {
            uint64_t bits = read_register(w, &op->a, j, lane);
            for (unsigned e = 0; e < 2; e++) {
                uint16_t half = (uint16_t)(bits >> (16 * e));
                memcpy(half_of(w, op, j, lane, e), &half, 2);
            }
        }
    vm_mem_write_back(w, &op->memory, m);
}

/* ---- wmma's loads and stores ---- */

/* The elements of one register of all lanes, one access for each. Elements narrower than a byte
 * have their neighbours in the same byte: a whole register is one access then. */
static void move_fragment(struct warp *w, const struct matrix_op *op, uint32_t m)
{
    const struct matrix_part *p = &op->d;
    enum matrix_type t = (enum matrix_type)p->type;
    unsigned width = matrix_bits(t), each = per_register(t);
    unsigned step = width < 8 ? each : 1, bytes = width < 8 ? 4 : width / 8;
    unsigned rows = op->role == 'b' ? op->k : op->m, columns = op->role == 'a' ? op->k : op->n;
    bool store = op->kind == MATRIX_WRITE;
    struct mem_op memory = op->memory;
    memory.bytes = memory.total = (uint8_t)bytes;
    for (unsigned r = 0; r < p->count; r++) {
        uint64_t bits[VM_LANES] = {0};
        for (unsigned lane = 0; lane < VM_LANES && store; lane++)
            bits[lane] = read_register(w, p, r, lane);
        for (unsigned e = 0; e < each; e += step) {
            for (uint32_t rest = m; rest; rest &= rest - 1) {
                unsigned l = (unsigned)__builtin_ctz(rest);
                struct matrix_place at = matrix_place(op, (char)op->role, t, r, e, l);
                uint64_t stride = op->has_stride ? vm_slot_or_row(w, op->stride_slot, op->stride, l)
                                  : op->by_columns ? rows
                                                   : columns;
                uint64_t index =
                    op->by_columns ? at.column * stride + at.row : at.row * stride + at.column;
                w->lane_address[l] = lane_base(w, &op->memory, l) + index * width / 8;
            }
            if (!vm_mem_slow(w, &memory, m))
                return;
            for (uint32_t rest = m; rest; rest &= rest - 1) {
                unsigned l = (unsigned)__builtin_ctz(rest), shift = e * width % 64;
                uint64_t one = bits[l] >> shift;
                if (store) {
                    memcpy(w->lane_host[l], &one, bytes);
                } else {
                    one = 0;
                    memcpy(&one, w->lane_host[l], bytes);
                    bits[l] |= one << shift;
                }
            }
            if (store)
                vm_mem_write_back(w, &memory, m);
        }
        for (uint32_t rest = store ? 0 : m; rest; rest &= rest - 1)
            write_register(w, p, r, (unsigned)__builtin_ctz(rest), bits[__builtin_ctz(rest)]);
    }
}

void vm_matrix(struct warp *w, const struct warp_op *op, uint32_t m)
{
    const struct matrix_op *x = op->matrix;
    if (m != VM_FULL) {
        struct vm_site site;
        vm_site_of(w, op->pc, __builtin_ctz(m), &site);
        vm_report(w->engine->vm, FINDING_warp_sync, WIRE_ERROR, &site,
                  "`%s` needs all 32 lanes of the warp; only lanes 0x%08x execute it", op->in->text,
                  m);
    }
    switch ((enum matrix_kind)x->kind) {
    case MATRIX_LOAD:
        load_rows(w, x, m);
        break;
    case MATRIX_STORE:
        store_rows(w, x, m);
        break;
    case MATRIX_TRANSPOSE:
        transpose(w, x, m);
        break;
    case MATRIX_MULTIPLY:
        multiply(w, x, m);
        break;
    case MATRIX_READ:
    case MATRIX_WRITE:
        move_fragment(w, x, m);
        break;
    }
}
