#pragma once
#include <string>
struct tqdm {
  template <class... A> void progress(A &&...) {}
  void finish() {}
  void set_label(std::string) {}
  void set_theme_basic() {}
  void set_theme_braille() {}
  void set_theme_line() {}
  void set_theme_circle() {}
  void set_theme_vertical() {}
  void disable_colors() {}
  void reset() {}
};
