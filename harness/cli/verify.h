/* verify: what the parts of `judge verify` share (verify.c, verify_files.c). */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "cli/cli.h"
#include "judge/trivial.h"
#include "judge/verify/mutants.h"

struct verification {
    struct cli *cli;
    const char *id;
    struct problem problem;
    struct problem_case *examples; /* of statement.md */
    unsigned example_count;
    uint64_t seed;
    bool with_mutants, only_mutants;
    struct mutant_choice mutants; /* its workers are those of all files */
    unsigned checked, failed;
    int status; /* STATUS_JUDGE or STATUS_USAGE once something of ours or of the spec failed */
};

/* A line of the report: "ok    " and "FAIL  " count, others do not. */
void verify_line(const struct verification *v, const char *mark, const char *sentence);
void verify_tell(struct verification *v, bool ok, const char *sentence);

/* Do trivial answers fail? */
void verify_trivial(struct verification *v, const struct answers *answers);

/* The starter, the references and every labelled submission, judged; trivial answers, whose right
 * ones come from the oracle or from the reference; what public and hidden cases catch. */
void verify_files(struct verification *v);
/* The examples of the statement through the reference that is judged against. */
void verify_examples(struct verification *v);
/* How many of the small faults are noticed. */
void verify_mutants(struct verification *v);

#endif
