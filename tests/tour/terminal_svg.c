/* What a terminal shows, as a picture: text with colours on stdin, SVG on stdout. Knows the codes
 * that the judge uses: bold, dim, red, green, yellow. Long lines go on below, as there. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_PX = 19, LEFT_PX = 16, TOP_PX = 52, LINES_MAX = 200, COLUMNS = 112 };
static const double COLUMN_PX = 8.43; /* of 14 px monospace */

struct look {
    bool bold, dim;
    int colour; /* 31, 32, 33; 0 = the usual one */
};

static void put_escaped(const char *s, size_t length)
{
    for (size_t i = 0; i < length; i++)
        switch (s[i]) {
        case '<':
            fputs("&lt;", stdout);
            break;
        case '>':
            fputs("&gt;", stdout);
            break;
        case '&':
            fputs("&amp;", stdout);
            break;
        default:
            putchar(s[i]);
        }
}

/* "1;31" */
static void take_codes(struct look *look, const char *codes)
{
    for (const char *at = codes;; at++) {
        int code = atoi(at);
        if (code == 0)
            *look = (struct look){0};
        look->bold |= code == 1;
        look->dim |= code == 2;
        if (code >= 31 && code <= 33)
            look->colour = code;
        at = strpbrk(at, ";m");
        if (!at || *at == 'm')
            return;
    }
}

static void put_span(const struct look *look, const char *s, size_t length)
{
    static const char *const COLOURS[] = {"#ff7b72", "#7ee787", "#e3b341"};
    if (!length)
        return;
    printf("<tspan fill=\"%s\"%s>",
           look->colour ? COLOURS[look->colour - 31]
           : look->dim  ? "#8b949e"
                        : "#e6edf3",
           look->bold ? " font-weight=\"bold\"" : "");
    put_escaped(s, length);
    fputs("</tspan>", stdout);
}

/* Where the line ends on a terminal of `most` columns: bytes of `s`, and how many columns they
 * take. */
static size_t line_bytes(const char *s, size_t most, size_t *columns)
{
    const char *at = s;
    for (*columns = 0; *at; at++) {
        if (*at == '\x1b') {
            at += strcspn(at, "m");
            if (!*at)
                break;
        } else if (((unsigned char)*at & 0xc0) != 0x80 && (*columns)++ == most) {
            (*columns)--;
            break;
        }
    }
    return (size_t)(at - s);
}

static void put_line(const char *s, struct look *look)
{
    while (*s) {
        size_t length = strcspn(s, "\x1b");
        put_span(look, s, length);
        s += length;
        if (*s != '\x1b')
            continue;
        if (s[1] == '[')
            take_codes(look, s + 2);
        s += strcspn(s, "m");
        s += *s == 'm';
    }
}

int main(void)
{
    static char *lines[LINES_MAX];
    size_t count = 0, widest = 0, room = 0, columns;
    char *whole = NULL;
    while (getline(&whole, &room, stdin) > 0) {
        whole[strcspn(whole, "\n")] = '\0';
        const char *rest = whole;
        do {
            size_t length = line_bytes(rest, COLUMNS, &columns);
            widest = columns > widest ? columns : widest;
            if (count < LINES_MAX)
                lines[count++] = strndup(rest, length);
            rest += length;
        } while (*rest);
    }
    free(whole);
    int width = (int)((double)widest * COLUMN_PX) + 2 * LEFT_PX;
    int height = TOP_PX + (int)count * LINE_PX;
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
           "viewBox=\"0 0 %d %d\">\n",
           width, height, width, height);
    printf("<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#0d1117\"/>\n");
    for (int i = 0; i < 3; i++)
        printf("<circle cx=\"%d\" cy=\"18\" r=\"5\" fill=\"#30363d\"/>\n", 18 + 16 * i);
    printf("<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',"
           "monospace\" font-size=\"14\" xml:space=\"preserve\">\n");
    struct look look = {0};
    for (size_t i = 0; i < count; i++) {
        printf("<text x=\"%d\" y=\"%zu\">", LEFT_PX, TOP_PX + i * LINE_PX);
        put_line(lines[i], &look);
        printf("</text>\n");
        free(lines[i]);
    }
    printf("</g>\n</svg>\n");
    return 0;
}
