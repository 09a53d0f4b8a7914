// An allocator as programs bring them: blocks of powers of two, kept in lists. The word before
// a block is its size.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { Before = 64, Lists = 48 };
static pthread_mutex_t Lock = PTHREAD_MUTEX_INITIALIZER;
static void *Free[Lists];
static char *Chunk, *ChunkEnd;

static size_t *sizeOf(void *Block) { return (size_t *)Block - 1; }

static void *take(size_t Bytes) {
  if (Chunk == NULL || (size_t)(ChunkEnd - Chunk) < Bytes) {
    const size_t Size = Bytes > (1 << 22) ? Bytes : 1 << 22;
    Chunk = mmap(NULL, Size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (Chunk == MAP_FAILED) {
      Chunk = NULL;
      return NULL;
    }
    ChunkEnd = Chunk + Size;
  }
  void *Result = Chunk;
  Chunk += Bytes;
  return Result;
}

void *malloc(size_t Size) {
  int List = 6;
  while (List < Lists && ((size_t)1 << List) < Size)
    ++List;
  if (List == Lists) {
    errno = ENOMEM;
    return NULL;
  }
  pthread_mutex_lock(&Lock);
  char *Block = Free[List];
  if (Block)
    memcpy(&Free[List], Block, sizeof(void *));
  else if ((Block = take(Before + ((size_t)1 << List))))
    Block += Before;
  pthread_mutex_unlock(&Lock);
  if (Block)
    *sizeOf(Block) = (size_t)1 << List;
  else
    errno = ENOMEM;
  return Block;
}

void free(void *Block) {
  // What is aligned lies within a block of which nobody knows; it stays.
  if (!Block || *sizeOf(Block) == 0)
    return;
  int List = 6;
  while (((size_t)1 << List) < *sizeOf(Block))
    ++List;
  pthread_mutex_lock(&Lock);
  memcpy(Block, &Free[List], sizeof(void *));
  Free[List] = Block;
  pthread_mutex_unlock(&Lock);
}

void *calloc(size_t Number, size_t Size) {
  size_t All;
  if (__builtin_mul_overflow(Number, Size, &All))
    return NULL;
  void *Block = malloc(All);
  return Block ? memset(Block, 0, All) : NULL;
}

static size_t Aligned(void *Block) { return *((size_t *)Block - 2); }

size_t malloc_usable_size(void *Block) {
  if (!Block)
    return 0;
  return *sizeOf(Block) ? *sizeOf(Block) : Aligned(Block);
}

void *realloc(void *Block, size_t Size) {
  const size_t Old = malloc_usable_size(Block);
  if (Block && Old >= Size)
    return Block;
  void *New = malloc(Size);
  if (New && Block) {
    memcpy(New, Block, Old);
    free(Block);
  }
  return New;
}

int posix_memalign(void **To, size_t Alignment, size_t Size) {
  if (Alignment <= Before) {
    *To = malloc(Size);
    return *To ? 0 : ENOMEM;
  }
  char *Block = malloc(Size + Alignment + Before);
  if (!Block)
    return ENOMEM;
  Block = (char *)(((uintptr_t)Block + Before + Alignment - 1) & ~(uintptr_t)(Alignment - 1));
  *sizeOf(Block) = 0;
  *((size_t *)Block - 2) = Size;
  *To = Block;
  return 0;
}

void *aligned_alloc(size_t Alignment, size_t Size) {
  void *Block;
  const int Error = posix_memalign(&Block, Alignment, Size);
  if (Error == 0)
    return Block;
  errno = Error;
  return NULL;
}
void *memalign(size_t Alignment, size_t Size) { return aligned_alloc(Alignment, Size); }
