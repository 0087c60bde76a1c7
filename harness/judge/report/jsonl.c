#include "judge/report/json_tree.h"
#include "judge/report/report.h"

report_function report_jsonl;

void report_jsonl(const struct result *const *results, unsigned count,
                  const struct report_options *options, struct text *out)
{
    (void)options;
    for (unsigned i = 0; i < count; i++)
        tree_write(tree_result(results[i]), TREE_ONE_LINE, out);
}
