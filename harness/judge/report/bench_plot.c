/* Data stands in the script itself ($d0, $d1, ...), so that one file says everything. */
#include "judge/report/bench.h"

#include <inttypes.h>

/* Inside of double quotes: letters that gnuplot would read as markup or as an escape are harmless
 * ones instead. */
static void add_quoted(struct text *out, const char *s)
{
    text_addc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        text_addc(out, c < 0x20 || c == '"' || c == '\\' || c == '`' || c == '$' || c == 0x7f ? '?'
                                                                                              : *s);
    }
    text_addc(out, '"');
}

void report_bench_plot(const struct bench *b, const char *terminal, const char *file,
                       struct text *out)
{
    text_addf(out, "set terminal %s size 1000,640 noenhanced\nset output ", terminal);
    add_quoted(out, file);
    text_add(out, "\nset title ");
    struct text title;
    text_init(&title);
    text_addf(&title, "%s on %s", b->problem, b->card);
    add_quoted(out, text_str(&title));
    text_release(&title);
    text_add(out, "\nset logscale x 2\nset xlabel \"n\"\nset format x \"%.0b %B\"\n"
                  "set ylabel \"GB/s: bytes that the problem moves, over time\"\n"
                  "set yrange [0:*]\nset grid\nset key outside right\n");
    unsigned series = 0;
    for (unsigned i = 0; i < b->entrant_count; i++) {
        const struct bench_entrant *e = &b->entrants[i];
        if (e->failed)
            continue;
        text_addf(out, "$d%u << END\n", series++);
        for (unsigned k = 0; k < b->size_count; k++)
            if (e->points[k].known)
                text_addf(out, "%" PRId64 " %.9g\n", b->sizes[k].n, e->points[k].gb_per_s);
        text_add(out, "END\n");
    }
    text_add(out, "plot ");
    series = 0;
    for (unsigned i = 0; i < b->entrant_count; i++) {
        if (b->entrants[i].failed)
            continue;
        text_addf(out, "%s$d%u using 1:2 with linespoints linewidth 2 title ", series ? ", " : "",
                  series);
        add_quoted(out, b->entrants[i].label);
        series++;
    }
    text_addc(out, '\n');
}
