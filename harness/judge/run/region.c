/* Memory that crosses the seam: a memfd, mapped here for good and sealed before its descriptor is
 * given away, so that the box can neither resize it under our feet (SIGBUS in the judge) nor change
 * what it is only to read.
 *
 * The pages are made at once, huge ones where there are any (base/pages.h), and a judge that makes
 * its regions while nvcc runs does not pay for it later. */
#include "judge/run/run.h"

#include "base/pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int run_region_init(struct run_region *r, uint64_t size, bool box_may_write, struct err *e)
{
    *r = (struct run_region){.fd = -1};
    if (size == 0)
        size = 1;
    size = pages_file_bytes(size);
    if (size > INT64_MAX)
        return err_set(e, "no buffer of %llu bytes", (unsigned long long)size);
    int fd = memfd_create(box_may_write ? "outputs" : "inputs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_set_errno(e, "cannot create a buffer of %llu bytes", (unsigned long long)size);
    void *bytes = ftruncate(fd, (off_t)size) == 0 ? pages_make(fd, size) : NULL;
    /* F_SEAL_FUTURE_WRITE leaves the mapping made above writable and forbids any later one. */
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | (box_may_write ? 0 : F_SEAL_FUTURE_WRITE);
    if (!bytes || fcntl(fd, F_ADD_SEALS, seals) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL) != 0) {
        err_set_errno(e, "cannot map a buffer of %llu bytes", (unsigned long long)size);
        if (bytes)
            munmap(bytes, size);
        close(fd);
        return -1;
    }
    *r = (struct run_region){.fd = fd, .bytes = bytes, .size = size};
    return 0;
}

void run_region_release(struct run_region *r)
{
    if (r->bytes)
        munmap(r->bytes, r->size);
    if (r->fd >= 0)
        close(r->fd);
    *r = (struct run_region){.fd = -1};
}
