/* A submission that ends the process before anybody called it. */
#include <stdlib.h>

__attribute__((constructor)) static void before_everything(void)
{
    exit(42);
}

void scan(void)
{
}
