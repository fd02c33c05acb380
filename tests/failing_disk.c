/* A disk that fails at the k-th call below one folder: what tests/failing_disk.py preloads into a process and arms. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { FULL, BROKEN, DEATH, TORN };

static char below[PATH_MAX];
static long calls, fatal = -1;
static int kind, log_file = -1;

void arm(const char *folder, long k, int what, int log) {
    strncpy(below, folder, sizeof below - 1);
    fatal = k, kind = what, log_file = log, calls = 0;
}

static int there(int at, const char *path) {
    char place[PATH_MAX + 32], whole[PATH_MAX + 1] = "";
    if (!below[0] || !path) return 0;
    if (path[0] != '/') {
        if (at == AT_FDCWD) { if (!getcwd(whole, PATH_MAX)) return 0; }
        else {
            snprintf(place, sizeof place, "/proc/self/fd/%d", at);
            ssize_t n = readlink(place, whole, PATH_MAX);
            if (n < 0) return 0;
            whole[n] = 0;
        }
    }
    return !strncmp(path[0] == '/' ? path : whole, below, strlen(below));
}

static int file_there(int file) {
    char place[64], whole[PATH_MAX + 1];
    if (!below[0]) return 0;
    snprintf(place, sizeof place, "/proc/self/fd/%d", file);
    ssize_t n = readlink(place, whole, PATH_MAX);
    if (n < 0) return 0;
    whole[n] = 0;
    return !strncmp(whole, below, strlen(below));
}

/* Whether this call is to fail; a death comes before it. A full disk can be read. */
static int fails(const char *name, int writes) {
    if (log_file >= 0) dprintf(log_file, "%s\n", name);
    if (calls++ != fatal) return 0;
    if (kind == DEATH) _exit(99);
    if (kind == FULL && !writes) return 0;
    errno = kind == FULL ? ENOSPC : EIO;
    return kind != TORN;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static int opened(const char *name, int at, const char *path, int flags, mode_t mode) {
    if (there(at, path) && fails((flags & (O_CREAT | O_TRUNC)) ? "create" : "open", flags & (O_CREAT | O_TRUNC))) return -1;
    return ((int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, name))(at, path, flags, mode);
}

#define MODE(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list v; va_start(v, flags); mode = va_arg(v, mode_t); va_end(v); }

int open(const char *path, int flags, ...) { MODE(flags) return opened("openat", AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened("openat64", AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opened("openat", at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opened("openat64", at, path, flags, mode); }

/* Of a torn write a half arrives, and then the process dies. */
static ssize_t torn(int file, const void *content, size_t size) {
    ssize_t done = REAL(write)(file, content, size / 2);
    _exit(done < 0 ? 98 : 99);
}

ssize_t write(int file, const void *content, size_t size) {
    if (file_there(file)) {
        int last = calls == fatal && kind == TORN;
        if (fails("write", 1)) return -1;
        if (last) return torn(file, content, size);
    }
    return REAL(write)(file, content, size);
}

#define OF_FILE(name, arguments, ...) \
    int name arguments { if (file_there(file) && fails(#name, 1)) return -1; return REAL(name)(__VA_ARGS__); }
#define OF_PATH(name, word, at, path, arguments, ...) \
    int name arguments { if (there(at, path) && fails(word, 1)) return -1; return REAL(name)(__VA_ARGS__); }

OF_FILE(fsync, (int file), file)
OF_FILE(fdatasync, (int file), file)
OF_FILE(ftruncate, (int file, off_t size), file, size)
OF_FILE(ftruncate64, (int file, off64_t size), file, size)
OF_PATH(rename, "rename", AT_FDCWD, to, (const char *from, const char *to), from, to)
OF_PATH(renameat, "rename", to_at, to, (int at, const char *from, int to_at, const char *to), at, from, to_at, to)
OF_PATH(mkdir, "mkdir", AT_FDCWD, path, (const char *path, mode_t mode), path, mode)
OF_PATH(chmod, "chmod", AT_FDCWD, path, (const char *path, mode_t mode), path, mode)
OF_PATH(unlink, "unlink", AT_FDCWD, path, (const char *path), path)
