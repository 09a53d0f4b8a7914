#pragma once
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>
namespace matplot {
using std::vector;
using vector_1d = std::vector<double>;
using vector_2d = std::vector<std::vector<double>>;
using color_array = std::initializer_list<double>;
struct stub_arg {
  template <class T> stub_arg(const T &) {}
  stub_arg(std::initializer_list<double>) {}
  stub_arg(std::initializer_list<const char *>) {}
};
struct stub_obj {
  stub_obj *operator->() { return this; }
  operator double() const { return 0; }
#define M(n)                                                                   \
  template <class... A> stub_obj n(A &&...) { return {}; }                     \
  stub_obj n(std::initializer_list<float>) { return {}; }                      \
  stub_obj n(std::initializer_list<const char *>) { return {}; }
  M(num_bins)
  M(bin_width) M(x_position) M(y_position) M(x_width) M(size) M(position)
      M(add_axes) M(reactive_mode) M(tiledlayout) M(nexttile) M(line_width)
          M(marker_color) M(marker_face) M(marker_face_color) M(marker_size)
              M(marker) M(display_name) M(color) M(title) M(xlabel) M(ylabel)
                  M(xlim) M(ylim) M(draw) M(show) M(face_color) M(edge_color)
                      M(face_alpha) M(font_size) M(width) M(height) M(x_axis)
                          M(y_axis) M(visible) M(name) M(label_color)
                              M(bar_width) M(hist_count) M(normalization)
                                  M(fill) M(save) M(label) M(use_y2)
                                      M(line_style)
#undef M
};
using figure_handle = stub_obj;
using axes_handle = stub_obj;
using line_handle = stub_obj;
enum on_off { off, on };
#define F(n)                                                                   \
  template <class... A> stub_obj n(A &&...) { return {}; }                     \
  inline stub_obj n(std::initializer_list<double>) { return {}; }              \
  inline stub_obj n(std::initializer_list<const char *>) { return {}; }
F(figure)
F(plot) F(scatter) F(hist) F(imshow) F(show) F(hold) F(legend) F(xlabel)
    F(ylabel) F(zlabel) F(title) F(subplot) F(xlim) F(ylim) F(xticks) F(yticks)
        F(gca) F(gcf) F(bar) F(image) F(rectangle) F(text) F(axis) F(colorbar)
            F(colormap) F(heatmap) F(grid) F(cla) F(save) F(sgtitle)
                F(xtickangle) F(line) F(contour) F(surf) F(imread)
                    F(tiledlayout) F(nexttile)
#undef F
                        inline vector_1d linspace(double, double, int = 100) {
  return {};
}
} // namespace matplot
