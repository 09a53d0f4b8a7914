/* Marks for torch-confirm's probe: a program says which of its loops are to be
 * measured, and which numbers are its results.
 *
 *   torch_confirm_begin("train");
 *   for (...) {
 *     ...
 *     torch_confirm_value("loss", loss.item<double>());
 *     torch_confirm_iteration("train");
 *   }
 *   torch_confirm_end("train");
 *
 * Without the probe these do nothing and cost a comparison; nothing has to be
 * linked. A thread's marks nest; a mark belongs to the thread that begins it.
 *
 *   torch_confirm_begin(loop)
 *     A loop begins: from here on its peak of tensor bytes is measured, above
 *     those that are alive now. The site is "mark:<loop>" at this line.
 * Beginning it again (a loop in a loop) adds to the same site.
 *   torch_confirm_iteration(loop)
 *     An iteration ends: a hit of the site, with a sample of the process'
 * state. torch_confirm_end(loop) The loop ends. torch_confirm_value(name,
 * number) A number of the innermost open loop of this thread; outside of all
 * loops, of the site "mark:", which has no frames. All calls of one name make
 * one row with its first, last, least, greatest and mean number, and samples in
 *     order.
 */
#ifndef TORCH_CONFIRM_H
#define TORCH_CONFIRM_H

/* What the probe exports, as torch_confirm_functions. */
struct torch_confirm_functions {
  void (*begin)(const char *loop);
  void (*iteration)(const char *loop);
  void (*end)(const char *loop);
  void (*value)(const char *name, double number);
};

#ifndef TORCH_CONFIRM_PROBE

#include <dlfcn.h>

/* Not weak functions: the linker makes them null for good in a program that is
 * not position independent. Old C libraries have dlsym in a library of its own;
 * where that is not linked, there are no marks. */
#pragma weak dlsym

static inline const struct torch_confirm_functions *torch_confirm_probe(void) {
  static const struct torch_confirm_functions *found;
  static int is_known;
  if (!is_known) {
    if (dlsym) /* RTLD_DEFAULT */
      found = (const struct torch_confirm_functions *)dlsym(
          (void *)0, "torch_confirm_functions");
    is_known = 1;
  }
  return found;
}

/* Macros, so that the call stands in the program's own line. */
#define torch_confirm_begin(loop)                                              \
  (torch_confirm_probe() ? torch_confirm_probe()->begin(loop) : (void)0)
#define torch_confirm_iteration(loop)                                          \
  (torch_confirm_probe() ? torch_confirm_probe()->iteration(loop) : (void)0)
#define torch_confirm_end(loop)                                                \
  (torch_confirm_probe() ? torch_confirm_probe()->end(loop) : (void)0)
#define torch_confirm_value(name, number)                                      \
  (torch_confirm_probe() ? torch_confirm_probe()->value(name, number) : (void)0)

#endif

#endif
