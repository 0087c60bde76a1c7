/* The built library exports what api.def lists, under the version node that programs ask for, and
 * nothing else but its hooks; where the toolkit has NVIDIA's library, the same names as that one.
 */
#include "base/file.h"
#include "wire/wire.h"

#include <dlfcn.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {
#define BODY(name)         #name,
#define STUB(name, reason) #name,
#include "cpu/cudart/api.def"
};
enum { NAME_COUNT = sizeof names / sizeof *names };

static bool listed(const char *name)
{
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Calls `visit` for every function that the library at `path` exports; returns how many. */
static size_t each_export(const char *path, void (*visit)(const char *name))
{
    struct text file;
    struct err e;
    text_init(&file);
    if (file_read(path, 64 << 20, &file, &e) != 0)
        fail_msg("%s", e.text);
    const Elf64_Ehdr *header = (const void *)file.data;
    const Elf64_Shdr *sections = (const void *)(file.data + header->e_shoff);
    size_t count = 0;
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *symbols = (const void *)(file.data + sections[i].sh_offset);
        const char *strings = file.data + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++) {
            bool function = ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC;
            if (symbols[k].st_shndx == SHN_UNDEF || !function)
                continue;
            visit(strings + symbols[k].st_name);
            count++;
        }
    }
    text_release(&file);
    return count;
}

static void must_be_listed(const char *name)
{
    if (strcmp(name, WIRE_HOOKS_SYMBOL) != 0 && !listed(name))
        fail_msg("%s is exported and not in api.def", name);
}

static void exports_are_the_table(void **state)
{
    (void)state;
    assert_int_equal(each_export(CUDART_LIBRARY, must_be_listed), NAME_COUNT + 1);
}

static void every_name_has_the_version(void **state)
{
    (void)state;
    void *library = dlopen(CUDART_LIBRARY, RTLD_NOW);
    if (!library)
        fail_msg("%s", dlerror());
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (!dlvsym(library, names[i], "libcudart.so.13"))
            fail_msg("%s is missing", names[i]);
    assert_non_null(dlsym(library, WIRE_HOOKS_SYMBOL));
}

static void names_are_sorted_into_the_table_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAME_COUNT; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
}

static void nvidias_library_has_the_same_names(void **state)
{
    (void)state;
    const char *path = CUDA_INCLUDE "/../lib64/libcudart.so.13";
    if (!file_exists(path)) {
        print_message("skipped: %s is not there\n", path);
        skip();
    }
    assert_int_equal(each_export(path, must_be_listed), NAME_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exports_are_the_table),
        cmocka_unit_test(every_name_has_the_version),
        cmocka_unit_test(names_are_sorted_into_the_table_once),
        cmocka_unit_test(nvidias_library_has_the_same_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
