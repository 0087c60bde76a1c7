/* Stands in for libFuzzer: runs one fuzz target over every file of the folders and files named on
 * the command line, in sorted order, and fails if there is none. */
#include "base/file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT_BYTES = 16 << 20 };

static int replay_file(const char *path)
{
    struct text input;
    struct err e;
    text_init(&input);
    int result = file_read(path, MAX_INPUT_BYTES, &input, &e);
    if (result)
        fprintf(stderr, "%s\n", e.text);
    fprintf(stderr, "%s\n", path); /* the last one printed is the one that crashed */
    uint8_t *exact = malloc(input.length ? input.length : 1);
    if (result == 0 && exact) {
        if (input.length > 0)
            memcpy(exact, input.data, input.length);
        LLVMFuzzerTestOneInput(exact, input.length);
    }
    free(exact);
    text_release(&input);
    return result;
}

/* Returns the number of files run, -1 on an error. */
static int replay_folder(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort), run = 0;
    if (count < 0) {
        perror(folder);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (names[i]->d_name[0] != '.' && run >= 0) {
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
            run = replay_file(path) ? -1 : run + 1;
        }
        free(names[i]);
    }
    free(names);
    return run;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int run = file_is_dir(argv[i]) ? replay_folder(argv[i]) : replay_file(argv[i]) ? -1 : 1;
        if (run < 0)
            return 1;
        total += run;
    }
    if (total == 0) {
        fprintf(stderr, "no inputs; usage: %s FOLDER|FILE...\n", argv[0]);
        return 1;
    }
    printf("%d inputs\n", total);
    return 0;
}
