/* Stands for a LibTorch that the probe does not know: one that binds its calls to
 * itself. FAKE says which part of it this is. */
#if FAKE == 1
void newBlock(void *, void *, unsigned long) __asm__(
    "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
void newBlock(void *Reporter, void *Block, unsigned long Size) {
  (void)Reporter, (void)Block, (void)Size;
}
void allocate(void) { newBlock(0, &allocate, 16); }
#elif FAKE == 2
int operations(void) { return 1; }
#else
#include <stdio.h>
void allocate(void);
int operations(void);
int main(void) {
  allocate();
  printf("%d\n", operations());
  return 0;
}
#endif
