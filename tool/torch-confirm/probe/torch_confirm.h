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
 */
#ifndef TORCH_CONFIRM_H
#define TORCH_CONFIRM_H

#ifdef __cplusplus
extern "C" {
#endif

/* The probe defines these; in a process without it they stay undefined. */
#if defined(__GNUC__) && !defined(TORCH_CONFIRM_PROBE)
#define TORCH_CONFIRM_WEAK __attribute__((weak))
#else
#define TORCH_CONFIRM_WEAK
#endif

/* A loop begins: from here on its peak of tensor bytes is measured, above those
 * that are alive now. The site is "mark:<loop>" at this line. Beginning it
 * again (a loop in a loop) adds to the same site. */
TORCH_CONFIRM_WEAK void torch_confirm_begin(const char *loop);

/* An iteration ends: a hit of the site, with a sample of the process' state. */
TORCH_CONFIRM_WEAK void torch_confirm_iteration(const char *loop);

/* The loop ends. */
TORCH_CONFIRM_WEAK void torch_confirm_end(const char *loop);

/* A number of the innermost open loop of this thread; outside of all loops, of
 * the site "mark:", which has no frames. All calls of one name make one row
 * with its first, last, least, greatest and mean number, and samples in order.
 */
TORCH_CONFIRM_WEAK void torch_confirm_value(const char *name, double number);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) && !defined(TORCH_CONFIRM_PROBE)
#define torch_confirm_begin(loop)                                              \
  (torch_confirm_begin ? torch_confirm_begin(loop) : (void)0)
#define torch_confirm_iteration(loop)                                          \
  (torch_confirm_iteration ? torch_confirm_iteration(loop) : (void)0)
#define torch_confirm_end(loop)                                                \
  (torch_confirm_end ? torch_confirm_end(loop) : (void)0)
#define torch_confirm_value(name, number)                                      \
  (torch_confirm_value ? torch_confirm_value(name, number) : (void)0)
#endif

#endif
