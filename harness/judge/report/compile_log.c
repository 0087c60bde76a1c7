/* A message is a line with a severity in it; where its place stands depends on who speaks:
 *
 *     a.cu(12): error: identifier "x" is undefined          nvcc's front end
 *     a.cu:12:5: warning: unused variable                   the host compiler
 *     a.cu: error: the entry point does not have ...        the judge
 *     ptxas error   : Entry function 'f' uses too much ...  ptxas
 *     nvcc fatal   : ...                                    the driver
 */
#include "judge/report/compile_log.h"

#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* "12" and what has to follow it; 0 if that is not there. */
static uint32_t read_number(const char **at, const char *follows)
{
    char *end;
    if (**at < '0' || **at > '9')
        return 0;
    unsigned long number = strtoul(*at, &end, 10);
    if (number == 0 || number > INT32_MAX || !starts_with(end, follows))
        return 0;
    *at = end + strlen(follows);
    return (uint32_t)number;
}

/* From behind the file's name to behind the place. */
static bool read_place(const char **at, struct compile_message *m)
{
    const char *s = *at;
    if (starts_with(s, ": ")) {
        *at = s + 2;
        return true;
    }
    if (*s == '(') {
        s++;
        m->line = read_number(&s, "): ");
    } else if (*s == ':') {
        s++;
        m->line = read_number(&s, ":");
        m->column = read_number(&s, ":");
        s += *s == ' ';
    }
    *at = s;
    return m->line > 0;
}

/* Which severity stands at `s`, and how many bytes say no more than that: "error: ". */
static bool read_severity(const char *s, size_t length, struct compile_message *m, size_t *said)
{
    static const struct {
        const char *word;
        bool is_error;
    } WORDS[] = {{"error", true},
                 {"fatal error", true},
                 {"catastrophic error", true},
                 {"at the end of the file: error", true},
                 {"warning", false},
                 {"ptxas error", true},
                 {"ptxas fatal", true},
                 {"ptxas warning", false},
                 {"nvcc error", true},
                 {"nvcc fatal", true},
                 {"nvcc warning", false},
                 {"nvlink error", true},
                 {"nvlink warning", false}};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        size_t word = strlen(WORDS[i].word);
        if (length <= word || strncmp(s, WORDS[i].word, word) != 0 || !strchr(": #", s[word]))
            continue;
        m->is_error = WORDS[i].is_error;
        bool plain = !strchr(WORDS[i].word, ' ') && starts_with(s + word, ": ");
        *said = plain ? word + 2 : 0;
        return true;
    }
    return false;
}

/* Lines of advice, which the judge indents by two; what the compiler quotes stands further in. */
static const char *end_of_advice(const char *line)
{
    while (starts_with(line, "  ") && line[2] != ' ' && line[2] != '\t' && line[2] != '^' &&
           line[2] != '\n' && line[2] != '\0') {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return line;
}

static bool read_line(const char *line, size_t length, const char *source,
                      struct compile_message *m)
{
    *m = (struct compile_message){0};
    size_t name = strlen(source), said = 0;
    const char *at = line;
    if (name > 0 && name < length && strncmp(line, source, name) == 0) {
        at += name;
        m->in_source = read_place(&at, m);
        if (!m->in_source)
            at = line;
    }
    if (m->in_source) {
        if (!read_severity(at, length - (size_t)(at - line), m, &said))
            return false;
        m->text = at + said;
        return true;
    }
    /* Nobody's place, or one in a header, whose name and line stay in the text. */
    m->text = line;
    if (read_severity(line, length, m, &said))
        return true;
    struct compile_message place = {0};
    size_t other = strcspn(line, "(:\n");
    at = line + other;
    return other < length && read_place(&at, &place) && at < line + length &&
           read_severity(at, length - (size_t)(at - line), m, &said);
}

bool compile_log_next(const char **at, const char *source, struct compile_message *m)
{
    while (**at) {
        const char *line = *at;
        size_t length = strcspn(line, "\n");
        *at = line + length + (line[length] == '\n');
        if (!read_line(line, length, source, m))
            continue;
        const char *end = line + length;
        if (m->in_source && end_of_advice(*at) > *at) {
            *at = end_of_advice(*at);
            end = *at - ((*at)[-1] == '\n');
        }
        m->length = (size_t)(end - m->text);
        return true;
    }
    return false;
}
