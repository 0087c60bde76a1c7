/* cache: results of compilations, by their key.
 *
 * FOLDER/compile/ab/KEY.entry tells how it went: the log, the headers that were read, the object.
 * Objects are named after the key and the headers, and never change. Both appear by rename, object
 * first, so that judges at work side by side see a whole result or none. */
#ifndef JUDGE_COMPILE_CACHE_H
#define JUDGE_COMPILE_CACHE_H

#include "base/arena.h"
#include "base/text.h"
#include "judge/compile/headers.h"

struct cache_entry {
    bool ok;
    const char *object; /* path; "" if there is none */
    const char *log;
    struct headers headers;
};

/* A private folder to compile in, on the cache's file system. Old ones that a killed judge left
 * behind are removed. The caller removes it. */
const char *cache_work_folder(const char *cache_folder, struct arena *arena, struct err *e);

/* Removes it. */
void cache_end_work(const char *folder);

bool cache_is_abandoned(void);

/* Removes those of everybody in this process, whose work then fails, and lets nobody begin. */
void cache_abandon_work(void);

/* true: there is a result under this key and every header is what it was. Anything that is damaged
 * counts as not there. */
bool cache_find(const char *cache_folder, const char *key, struct arena *arena,
                struct cache_entry *entry);

/* Puts `bytes`, or where that is NULL the file at entry->object, into the cache and sets
 * entry->object (if not "") to its path there. */
int cache_store(const char *cache_folder, const char *key, struct arena *arena,
                const struct text *bytes, struct cache_entry *entry, struct err *e);

#endif
