/* Every offset is checked against the file's size before it is followed: the library was linked
 * from code that nobody trusts. */
#include "judge/compile/elf.h"

#include "base/file.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LIBRARY_BYTES_MAX = 1 << 30 };

/* `count` items of `bytes` each from `offset`, or NULL if they are not all in the file. */
static const void *part(const struct text *file, uint64_t offset, uint64_t count, uint64_t bytes)
{
    if (offset > file->length || count > (file->length - offset) / bytes)
        return NULL;
    return file->data + offset;
}

/* A copy, since nothing in the file is sure to be aligned. */
static bool copy_item(const struct text *file, uint64_t offset, void *to, size_t bytes)
{
    const void *from = part(file, offset, 1, bytes);
    if (from)
        memcpy(to, from, bytes);
    return from != NULL;
}

/* "_Z14exclusive_scanPKiPii", also inside of a namespace: the length and the name, in a row. */
static bool is_mangled(const char *symbol, const char *name)
{
    char wanted[256];
    if (strncmp(symbol, "_Z", 2) != 0 ||
        snprintf(wanted, sizeof wanted, "%zu%s", strlen(name), name) >= (int)sizeof wanted)
        return false;
    const char *at = strstr(symbol + 2, wanted);
    return at && (at[-1] < '0' || at[-1] > '9');
}

/* What is done with each symbol that the library defines. */
typedef void elf_visitor(const Elf64_Sym *symbol, const char *symbol_name, void *context);

struct search {
    const char *name;
    enum elf_found found;
};

static void look_for(const Elf64_Sym *symbol, const char *symbol_name, void *context)
{
    struct search *s = context;
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (strcmp(symbol_name, s->name) == 0)
        s->found = type == STT_FUNC || type == STT_GNU_IFUNC ? ELF_DEFINED : ELF_NOT_A_FUNCTION;
    else if (s->found == ELF_MISSING && type == STT_FUNC && is_mangled(symbol_name, s->name))
        s->found = ELF_CPP;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_interposed(const char *name)
{
    static const char *const NAMES[] = {
#define INTERPOSED(name) #name,
#include "judge/compile/interposed.def"
#undef INTERPOSED
    };
    if (strncmp(name, "__cuda", 6) == 0 || (strncmp(name, "cuda", 4) == 0 && is_capital(name[4])) ||
        (strncmp(name, "cu", 2) == 0 && is_capital(name[2])))
        return true;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return true;
    return false;
}

static void look_for_interposed(const Elf64_Sym *symbol, const char *symbol_name, void *context)
{
    char *name = context;
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (!name[0] && (type == STT_FUNC || type == STT_GNU_IFUNC) && is_interposed(symbol_name))
        snprintf(name, ELF_NAME_BYTES, "%s", symbol_name);
}

static bool scan_symbols(const struct text *file, const Elf64_Shdr *symbols,
                         const Elf64_Shdr *strings, elf_visitor *visit, void *context)
{
    uint64_t count = symbols->sh_size / sizeof(Elf64_Sym);
    const char *text = part(file, strings->sh_offset, strings->sh_size, 1);
    if (!text || !part(file, symbols->sh_offset, count, sizeof(Elf64_Sym)))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        if (!copy_item(file, symbols->sh_offset + i * sizeof symbol, &symbol, sizeof symbol))
            return false;
        if (symbol.st_name >= strings->sh_size ||
            !memchr(text + symbol.st_name, '\0', strings->sh_size - symbol.st_name))
            return false;
        if (symbol.st_shndx != SHN_UNDEF)
            visit(&symbol, text + symbol.st_name, context);
    }
    return true;
}

static bool scan_file(const struct text *file, elf_visitor *visit, void *context)
{
    Elf64_Ehdr header;
    if (!copy_item(file, 0, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr) ||
        !part(file, header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr)))
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr symbols, strings;
        if (!copy_item(file, header.e_shoff + i * sizeof symbols, &symbols, sizeof symbols))
            return false;
        if (symbols.sh_type != SHT_DYNSYM)
            continue;
        return symbols.sh_link < header.e_shnum &&
               copy_item(file, header.e_shoff + symbols.sh_link * sizeof strings, &strings,
                         sizeof strings) &&
               scan_symbols(file, &symbols, &strings, visit, context);
    }
    return false;
}

static int visit_symbols(const char *path, elf_visitor *visit, void *context, struct err *e)
{
    struct text file;
    text_init(&file);
    int status = file_read(path, LIBRARY_BYTES_MAX, &file, e);
    if (status == 0 && !scan_file(&file, visit, context))
        status = err_set(e, "%s is not a 64-bit shared library", path);
    text_release(&file);
    return status;
}

int elf_find(const char *path, const char *name, enum elf_found *found, struct err *e)
{
    struct search s = {name, ELF_MISSING};
    int status = visit_symbols(path, look_for, &s, e);
    *found = s.found;
    return status;
}

int elf_interposes(const char *path, char name[ELF_NAME_BYTES], struct err *e)
{
    name[0] = '\0';
    return visit_symbols(path, look_for_interposed, name, e);
}

bool elf_section(const void *bytes, size_t length, const char *name, size_t *offset, size_t *count)
{
    const struct text file = {.data = (char *)bytes, .length = length};
    Elf64_Ehdr header;
    Elf64_Shdr section, names;
    if (!copy_item(&file, 0, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof section || header.e_shstrndx >= header.e_shnum ||
        !copy_item(&file, header.e_shoff + header.e_shstrndx * sizeof names, &names, sizeof names))
        return false;
    const char *text = part(&file, names.sh_offset, names.sh_size, 1);
    for (unsigned i = 0; text && i < header.e_shnum; i++) {
        if (!copy_item(&file, header.e_shoff + i * sizeof section, &section, sizeof section))
            return false;
        if (section.sh_name >= names.sh_size ||
            !memchr(text + section.sh_name, 0, names.sh_size - section.sh_name) ||
            strcmp(text + section.sh_name, name) != 0 || section.sh_type == SHT_NOBITS ||
            !part(&file, section.sh_offset, section.sh_size, 1))
            continue;
        *offset = section.sh_offset;
        *count = section.sh_size;
        return true;
    }
    return false;
}
