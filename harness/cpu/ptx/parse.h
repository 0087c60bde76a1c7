/* parse: what the parts of the PTX parser share. Private to cpu/ptx.
 *
 *   lex.c      white space, comments, numbers, strings, error messages
 *   names.c    interned names, scopes, what a name stands for
 *   opcode.c   an opcode with its suffixes -> a filled struct ptx_instr, once per distinct spelling
 *   operand.c  operands
 *   body.c     statements of a function body, labels
 *   decl.c     variables and parameters; init.c their initial values
 *   loc.c      .file and .loc
 *   module.c   the top level and ptx_parse()
 *
 * Functions that can fail return 0 or -1 with p->e filled by fail(). A few return 1 for "this
 * instruction cannot be read": the caller turns it into PTX_OP_unknown. */
#ifndef CPU_PTX_PARSE_H
#define CPU_PTX_PARSE_H

#include "cpu/ptx/ptx.h"

enum {
    MAX_DEPTH = 200,     /* nested { } */
    MAX_DIMENSIONS = 16, /* of an array */
    MAX_OPERANDS = 12,   /* of an instruction; vectors count once */
    MAX_FILES = 1 << 16, /* of .file */
    MAX_CHAIN = 256,     /* frames of an inlining chain */
};
#define MAX_VARIABLE_BYTES (1ull << 40) /* of one variable */
#define MAX_BLOCK_BYTES    (1ull << 44) /* of all variables of one space */
#define MAX_INIT_BYTES     (1ull << 30) /* of all initialised variables together: they take memory */

struct vec { /* a growing array in heap memory */
    void *data;
    size_t count, capacity;
};

/* Room for one more item of `bytes`, zeroed. */
void *vec_push(struct vec *v, size_t bytes);
void vec_release(struct vec *v);

enum bound_kind {
    BOUND_REG,       /* index: register of the current function */
    BOUND_RANGE,     /* .reg .b32 %r<count>: the name is the prefix; type */
    BOUND_SYMBOL,    /* index into symbols */
    BOUND_FUNCTION,  /* index into functions */
    BOUND_LABEL,     /* index: instruction */
    BOUND_TARGETS,   /* .branchtargets: targets */
    BOUND_PROTOTYPE, /* .callprototype, .calltargets: index into functions */
};

struct name;

struct binding {
    struct name *name;
    struct binding *outer; /* of the same name, shadowed by this one */
    struct binding *next;  /* of the same scope */
    enum bound_kind kind;
    uint8_t type;
    int32_t index;
    uint32_t depth;
    uint64_t count;
    struct name **targets;
    uint32_t target_count;
};

struct opcode;

struct name {
    const char *text;
    uint32_t length, hash;
    struct binding *bound; /* registers, symbols, functions, lists */
    struct binding *range; /* as the prefix of a register range */
    struct binding *label;
    struct opcode *opcode; /* when it was seen as an opcode */
    int16_t sreg;          /* enum ptx_sreg, -1 = none, -2 = not looked up yet */
};

/* A label that an operand names. Labels may be defined after their use and are local to the scope
 * they are in, so all are resolved when a scope ends: there, or handed to the scope around it. */
struct fixup {
    struct fixup *next;
    struct ptx_operand *operand;
    struct name *name;
    uint32_t line;
};

struct scope {
    struct binding *bindings;
    struct fixup *fixups;
};

enum opcode_form { FORM_PLAIN, FORM_BRANCH, FORM_BRANCH_INDEXED, FORM_CALL, FORM_UNKNOWN };

struct opcode {
    struct ptx_instr instr; /* everything that the spelling decides */
    enum opcode_form form;
    uint8_t least, most;
    bool drops_policy; /* .L2::cache_hint: the last operand is a cache policy */
};

struct init { /* initial value of one variable */
    const uint64_t *dimensions;
    uint32_t dimension_count;
    unsigned element_bytes;
    uint8_t type;
    bool unsized;
    uint64_t end;       /* bytes written so far */
    unsigned mask_left; /* bytes that an address spread over single bytes still lacks */
    struct vec relocs;
};

struct alias {
    struct name *alias, *aliasee;
    uint32_t line;
};

struct loc_slot; /* loc.c */

struct parser {
    const char *at, *end; /* *end is NUL */
    uint32_t line;
    struct arena *arena;  /* results */
    struct arena scratch; /* dies with the parser */
    struct err *e;
    struct ptx_module *module;

    struct name **table; /* open addressing */
    uint32_t table_mask, name_count;
    struct scope scopes[MAX_DEPTH + 1];
    uint32_t depth;
    uint32_t nested_ranges; /* ranges bound at depth > 1 */

    struct vec symbols, functions, files, aliases; /* files: const char *, may be NULL */
    uint64_t shared_bytes;                         /* module scope */
    uint64_t init_total;
    struct vec init_bytes;

    struct vec locs, loc_depths;
    struct loc_slot *loc_table;
    uint32_t loc_mask, loc_used;
    uint32_t loc; /* current */

    int32_t function; /* being read, -1 = module scope */
    struct vec regs, instrs, elements;
    uint32_t used_bytes; /* for the next instruction */
    bool label_at_end;   /* a label was bound to the next instruction */
};

/* ---- lex.c ---- */

enum { CHAR_SPACE = 1, CHAR_DIGIT = 2, CHAR_IDENT_START = 4, CHAR_IDENT = 8 };
extern const uint8_t char_class[256];

static inline bool is_class(char c, int class)
{
    return (char_class[(unsigned char)c] & class) != 0;
}

/* Fills p->e with "PTX line N: ..." and returns -1. */
int fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "PTX line N: 'x' was found; expected <expected>" */
int fail_found(struct parser *p, const char *expected);

void skip_space(struct parser *p);
/* Skips space and returns the next byte, NUL at the end. */
static inline char next_char(struct parser *p)
{
    if (!is_class(*p->at, CHAR_IDENT_START) && *p->at != '.')
        skip_space(p);
    return *p->at;
}
/* True, and past it, if the next byte is `c`. */
bool accept(struct parser *p, char c);
int expect(struct parser *p, char c);
/* The identifier at p->at (after space); length 0 if there is none. Does not allocate. */
size_t read_word(struct parser *p, const char **word);
bool word_is(const char *word, size_t length, const char *expected);

struct number {
    uint64_t bits;
    uint8_t type; /* PTX_S64 PTX_U64 PTX_F32 PTX_F64 */
};
/* A literal at p->at, with sign. 1: there is none, or one that is out of range. */
int read_number(struct parser *p, struct number *out);
/* An unsigned integer up to `most`; else an error that names `what`. */
int read_unsigned(struct parser *p, uint64_t most, const char *what, uint64_t *out);
/* "..." as a fresh string in the arena. */
int read_string(struct parser *p, const char **out);
/* From p->at past the next `;`, over balanced braces. */
int skip_statement(struct parser *p);
int skip_braces(struct parser *p); /* from a '{' past its '}' */
int skip_parentheses(struct parser *p);

/* ---- names.c ---- */

struct name *intern(struct parser *p, const char *text, size_t length);
/* The name at p->at, NULL if there is none. */
struct name *read_name(struct parser *p);
int open_scope(struct parser *p);
int close_scope(struct parser *p); /* resolves labels */
/* Binds at the current depth; an error if the name is bound there already. */
int bind(struct parser *p, struct name *name, enum bound_kind kind, int32_t index,
         struct binding **out);
/* What the name stands for here; a register of a range is made on its first use. NULL = nothing. */
struct binding *lookup(struct parser *p, struct name *name);
int32_t add_register(struct parser *p, const char *name, uint8_t type);
void add_fixup(struct parser *p, struct ptx_operand *operand, struct name *name, uint32_t line);

/* ---- opcode.c ---- */

struct opcode *decode_opcode(struct parser *p, struct name *spelling);
/* PTX_NONE: not a type name. */
enum ptx_type type_by_name(const char *word, size_t length);
int sreg_by_name(const char *word, size_t length); /* -1 = none */

/* ---- operand.c ---- */

/* From behind the opcode past the `;`. 1: not readable. */
int read_operands(struct parser *p, const struct opcode *opcode, struct ptx_instr *instr);

/* ---- decl.c ---- */

/* Behind ".global" and its like, up to and with the `;`. */
int read_variables(struct parser *p, uint8_t space, uint8_t linkage);
/* "( .param ..., ... )" of a signature into `*out`, `*count`; offsets continue from `*block`. */
int read_parameters(struct parser *p, int32_t **out, uint32_t *count, uint64_t *block);
struct ptx_symbol *symbol_at(struct parser *p, int32_t index);
struct ptx_function *function_at(struct parser *p, int32_t index);

/* ---- init.c ---- */

/* Behind '='. Fills init, relocs and, if its size was open, bytes of the symbol. */
int read_initialiser(struct parser *p, struct ptx_symbol *symbol, const uint64_t *dimensions,
                     uint32_t dimension_count, unsigned element_bytes);

/* ---- loc.c ---- */

int read_loc(struct parser *p);  /* behind ".loc" */
int read_file(struct parser *p); /* behind ".file" */
void locs_init(struct parser *p);
void locs_release(struct parser *p);
void locs_start_function(struct parser *p);
void locs_finish(struct parser *p); /* files and locs into the module */

/* ---- module.c ---- */

/* Gives the results of a function their offsets, behind its parameters. */
int place_results(struct parser *p, struct ptx_function *f);

/* ---- body.c ---- */

int read_body(struct parser *p); /* behind the '{' of p->function; takes its '}' */
int read_pragma(struct parser *p);

#endif
