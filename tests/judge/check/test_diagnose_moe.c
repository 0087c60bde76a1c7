/* Diagnoses of what is padded to whole blocks: each with look-alikes that nobody may explain so. */
#include "fake.h"

enum { COUNT = 5 };

/* Judges `got` where `right` is expected and block_size is 4; the diagnosis, or "". */
static const char *diagnosis_of(struct fake *f, const int32_t *right, const int32_t *got)
{
    static uint64_t scalars[FAKE_PARAMS_MAX];
    fake_init(f);
    fake_buffer(f, "offsets", WIRE_OUTPUT, WIRE_int32, right, COUNT);
    unsigned block = f->problem.param_count++;
    f->params[block] =
        (struct problem_param){.name = "block_size", .kind = PARAM_SCALAR, .type = WIRE_int32};
    f->request.params[f->request.param_count++] = (struct wire_param){.kind = WIRE_PARAM_SCALAR};
    scalars[block] = 4;
    f->data.scalars = scalars;
    fake_check(f, 0, COMPARE_exact, -1, -1);
    fake_untouched(f);
    memcpy(fake_payload(f, 0), got, COUNT * sizeof *got);
    assert_false(fake_judge(f)->ok);
    return f->result.diagnosis ? f->result.diagnosis : "";
}

static void offsets_not_rounded_up(void **state)
{
    (void)state;
    static const int32_t padded[COUNT] = {0, 4, 12, 12, 16}, odd[COUNT] = {0, 4, 13, 13, 16};
    static const int32_t lonely[COUNT] = {0, 0, 16, 0, 0};
    static const struct {
        const int32_t *right;
        int32_t got[COUNT];
        bool said;
    } ROWS[] = {
        {padded, {0, 3, 9, 9, 10}, true},     {padded, {0, 4, 9, 9, 13}, true},
        {padded, {0, 4, 8, 8, 12}, false},    /* multiples too */
        {padded, {0, 4, 7, 9, 13}, false},    /* short by more than rounding */
        {lonely, {0, 0, 13, 0, 0}, false},    /* one value: an accident */
        {padded, {0, 5, 12, 12, 16}, false},  /* larger than what is right */
        {padded, {0, -1, 12, 12, 16}, false}, /* no place at all */
        {odd, {0, 3, 9, 9, 10}, false},       /* nothing says that multiples are wanted */
    };
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        struct fake f;
        const char *diagnosis = diagnosis_of(&f, ROWS[k].right, ROWS[k].got);
        if ((strstr(diagnosis, "multiple of block_size (4)") != NULL) != ROWS[k].said)
            fail_msg("row %zu: %s", k, diagnosis);
        fake_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_not_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
