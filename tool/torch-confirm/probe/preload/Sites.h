// The table of sites and what is kept in the trace: names, samples, series.
#ifndef TORCHTIDY_CONFIRM_PROBE_SITES_H
#define TORCHTIDY_CONFIRM_PROBE_SITES_H

#include "State.h"

namespace torchtidy::confirm::probe {

/// Sets up what is not in the file itself. \returns whether there is memory.
bool prepareSites();

/// The offset of a text in the trace; the same one for the same text. 0 when
/// the section is full.
TextOffset keepText(const char *Text);
/// Without looking for the same text, for words that have to lie in a row.
TextOffset appendText(const char *Text);
inline const char *textAt(TextOffset Offset) {
  return reinterpret_cast<const char *>(Trace) + trace::TextAt + Offset;
}

inline trace::Site &siteAt(uint32_t Site) {
  return reinterpret_cast<trace::Site *>(reinterpret_cast<char *>(Trace) +
                                         trace::SitesAt)[Site];
}

/// The site of an operation with these frames, innermost first. 0 when there is
/// no room; that is counted.
uint32_t siteOf(trace::SiteKind Kind, TextOffset Operation,
                const uintptr_t *Frames, uint32_t FrameCount);

/// Counts a hit and takes a sample. \returns when, since the start; 0 where it
/// took none.
uint64_t hit(uint32_t Site);

void resetSiteLocks();

/// See sealTrace().
void sealSites();

} // namespace torchtidy::confirm::probe

#endif
