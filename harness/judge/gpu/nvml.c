#include "judge/gpu/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static const char USUAL[] = "libnvidia-ml.so.1";

/* ISO C has no cast from an object to a function pointer; POSIX promises that the bits are enough.
 */
static bool find_function(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

int nvml_open(const char *path, struct nvml *n, struct err *e)
{
    *n = (struct nvml){0};
    n->library = dlopen(path ? path : USUAL, RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        return err_set(e, "there is no NVIDIA driver here (%s)", dlerror());
#define NVML(name, needed, arguments)                                                              \
    if (!find_function(n->library, #name, (void *)&n->name) && (needed)) {                         \
        nvml_close(n);                                                                             \
        return err_set(e, "the NVIDIA driver here is too old: its %s has no %s", USUAL, #name);    \
    }
#include "judge/gpu/nvml.def"
#undef NVML
    int status = n->nvmlInit_v2();
    if (status != 0) {
        dlclose(n->library);
        *n = (struct nvml){0};
        return err_set(e,
                       "the NVIDIA driver does not answer (nvmlInit gives %d): is its kernel "
                       "module loaded, and does nvidia-smi work?",
                       status);
    }
    return 0;
}

const char *nvml_folder(const struct nvml *n, struct arena *arena)
{
    void *address;
    Dl_info info;
    memcpy(&address, &n->nvmlInit_v2, sizeof address);
    const char *slash =
        dladdr(address, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    return slash ? arena_strndup(arena, info.dli_fname, (size_t)(slash - info.dli_fname)) : NULL;
}

void nvml_close(struct nvml *n)
{
    if (!n->library)
        return;
    if (n->nvmlShutdown)
        n->nvmlShutdown();
    dlclose(n->library);
    *n = (struct nvml){0};
}
