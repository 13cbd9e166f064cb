// Loaded before the C library, it makes every sync of a process wait for as long as the file exists
// that SLOW_DISK names.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_for_the_disk(void) {
  const char *file = getenv("SLOW_DISK");
  while (file && access(file, F_OK) == 0) usleep(10000);
}

int fsync(int descriptor) {
  wait_for_the_disk();
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  wait_for_the_disk();
  return (int)syscall(SYS_fdatasync, descriptor);
}
