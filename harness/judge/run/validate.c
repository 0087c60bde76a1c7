#include "judge/run/validate.h"

#include <signal.h>
#include <string.h>

static bool clean_string(char *string, size_t capacity)
{
    if (!memchr(string, '\0', capacity))
        return false;
    wire_clean_text(string, strlen(string));
    return true;
}

static bool validate_finding(struct wire_finding *f)
{
    if (f->kind >= FINDING_COUNT || f->severity > WIRE_ERROR)
        return false;
    for (int i = 0; i < 3; i++)
        if (f->block[i] < -1 || f->thread[i] < -1)
            return false;
    return clean_string(f->file, sizeof f->file) && clean_string(f->kernel, sizeof f->kernel) &&
           clean_string(f->message, sizeof f->message);
}

/* Whether the answer is one to the question that was asked. */
static bool status_fits(uint32_t status, bool loading)
{
    switch ((enum wire_status)status) {
    case WIRE_READY:
    case WIRE_LOAD_FAILED:
    case WIRE_NO_DEVICE:
        return loading;
    case WIRE_DONE:
    case WIRE_CUDA_ERROR:
    case WIRE_BAD_REQUEST:
        return !loading;
    case WIRE_CRASHED:
        return true;
    }
    return false;
}

bool validate_reply(struct wire_reply *reply, bool loading)
{
    if (reply->magic != WIRE_MAGIC || !status_fits(reply->status, loading))
        return false;
    if (reply->signal < 0 || reply->signal >= NSIG)
        return false;
    if ((reply->status == WIRE_CRASHED) != (reply->signal != 0))
        return false;
    if (reply->finding_count > WIRE_FINDINGS_MAX)
        return false;
    for (uint32_t i = 0; i < reply->finding_count; i++)
        if (!validate_finding(&reply->findings[i]))
            return false;
    return clean_string(reply->message, sizeof reply->message);
}
