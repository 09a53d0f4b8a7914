// Stands in for matplot++: whatever is plotted, and however, nothing of it concerns
// LibTorch. Every function takes every argument, braced lists included.
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

struct stub_any {
  template <class T> stub_any(const T &) {}
};
struct stub_list {
  stub_list() {}
  stub_list(double, double) {}
  template <class T> stub_list(std::initializer_list<T>) {}
};

#define STUB(Specifier, Name)                                                  \
  template <class... A> Specifier stub_object Name(A &&...);                   \
  Specifier stub_object Name(stub_list);                                       \
  Specifier stub_object Name(stub_any, stub_list);                             \
  Specifier stub_object Name(stub_any, stub_list, stub_list);                  \
  Specifier stub_object Name(stub_any, stub_any, stub_list);                   \
  Specifier stub_object Name(stub_list, stub_list);

struct stub_object;
struct stub_object {
  stub_object *operator->();
  operator double() const;
#define METHOD(Name) STUB(, Name)
  METHOD(add_axes) METHOD(axis) METHOD(bar_width) METHOD(bin_width)
  METHOD(color) METHOD(display_name) METHOD(draw) METHOD(edge_color)
  METHOD(face_alpha) METHOD(face_color) METHOD(fill) METHOD(font_size)
  METHOD(height) METHOD(hist_count) METHOD(label) METHOD(label_color)
  METHOD(line_style) METHOD(line_width) METHOD(marker) METHOD(marker_color)
  METHOD(marker_face) METHOD(marker_face_color) METHOD(marker_size)
  METHOD(name) METHOD(nexttile) METHOD(normalization) METHOD(num_bins)
  METHOD(position) METHOD(reactive_mode) METHOD(save) METHOD(show)
  METHOD(size) METHOD(tiledlayout) METHOD(title) METHOD(use_y2)
  METHOD(visible) METHOD(width) METHOD(x_axis) METHOD(x_position)
  METHOD(x_width) METHOD(xlabel) METHOD(xlim) METHOD(y_axis)
  METHOD(y_position) METHOD(ylabel) METHOD(ylim)
#undef METHOD
};
using figure_handle = stub_object;
using axes_handle = stub_object;
using line_handle = stub_object;
enum on_off { off, on };

#define FUNCTION(Name) STUB(extern, Name)
FUNCTION(area) FUNCTION(axis) FUNCTION(bar) FUNCTION(cla) FUNCTION(colorbar)
FUNCTION(colormap) FUNCTION(contour) FUNCTION(figure) FUNCTION(gca)
FUNCTION(gcf) FUNCTION(grid) FUNCTION(heatmap) FUNCTION(hist) FUNCTION(hold)
FUNCTION(image) FUNCTION(imread) FUNCTION(imshow) FUNCTION(legend)
FUNCTION(line) FUNCTION(loglog) FUNCTION(nexttile) FUNCTION(plot)
FUNCTION(rectangle) FUNCTION(save) FUNCTION(scatter) FUNCTION(semilogy)
FUNCTION(sgtitle) FUNCTION(show) FUNCTION(stem) FUNCTION(subplot)
FUNCTION(surf) FUNCTION(text) FUNCTION(textarrow) FUNCTION(tiledlayout)
FUNCTION(title) FUNCTION(xlabel) FUNCTION(xlim) FUNCTION(xticks)
FUNCTION(xtickangle) FUNCTION(ylabel) FUNCTION(ylim) FUNCTION(yticks)
FUNCTION(zlabel)
#undef FUNCTION
#undef STUB

vector_1d linspace(double, double, int = 100);
} // namespace matplot
