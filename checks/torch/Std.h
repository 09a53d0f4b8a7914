// What functions of the standard library mean to those who pass tensors through
// them, by [containers], [utility], [memory], [tuple], [algorithms] and
// [thread] of the C++ standard. LibTorch's own containers, optionals and
// pointers (c10::List, c10::Dict, c10::optional, c10::intrusive_ptr,
// torch::OrderedDict) have members of the same names and the same meaning:
// c10/core/List.h, c10/util/intrusive_ptr.h,
// torch/csrc/api/include/torch/ordered_dict.h.
//
// All of it goes by name alone: ask for functions of these libraries only
// (isStd, isLibTorch). Null is answered like a function that is not known.
#ifndef TORCHTIDY_TORCH_STD_H
#define TORCHTIDY_TORCH_STD_H

#include "clang/AST/Decl.h"

namespace torchtidy::torch {

enum class StdMeaning {
  Unknown,
  /// std::move: denotes its argument, whose content is then taken.
  Move,
  /// std::forward: denotes its argument, which may then be taken.
  Forward,
  /// Denotes what its argument, or its object, denotes: ref, as_const,
  /// static_pointer_cast, next, ++.
  Same,
  /// make_shared, make_unique, make_intrusive.
  Make,
  /// make_tuple, make_pair: a tuple of values.
  Tuple,
  /// tie, forward_as_tuple: a tuple of references.
  Tie,
  /// std::get, or get() of a smart pointer.
  Get,
  /// What a pointer, an optional or an iterator leads to: *, ->, value, lock.
  Dereference,
  /// An iterator to the elements, or a pointer: begin, find, data.
  Iterator,
  /// A reference to an element: at, front, [].
  Element,
  /// The arguments become elements: push_back, insert, assign.
  Append,
  /// Several elements become copies of one object: fill, fill_n.
  Fill,
  /// No element is left: clear.
  Clear,
  /// Elements are let go: pop_back, erase.
  Remove,
  /// resize: elements are let go, or are made as copies of its second argument.
  Resize,
  /// extract: an element leaves the container and lives on.
  Extract,
  /// The two exchange what they hold: a.swap(b), swap(a, b).
  Swap,
  /// std::exchange: its first argument gets another value.
  Exchange,
  /// reset of a pointer or an optional: what it held ends, its argument takes
  /// the place.
  Reset,
  /// The container gets room for elements; those that it has may move.
  Reserve,
  /// The pointer gives up what it owns, which lives on.
  GiveUp,
  /// Of threads: runs on without an owner.
  Detach,
  /// Algorithms that call a function for each element, and transform, which
  /// stores what it returns.
  ForEach,
  Transform,
  /// Only tells something: size, empty, count.
  Nothing,
};

/// Of functions by name, of overloaded operators (*, ->, [], ++, --) by what
/// they do for pointers, iterators and containers.
StdMeaning meaning(const clang::FunctionDecl *F);

/// Whether pointers to the elements of a contiguous container may be invalid
/// after this member was called. Not reserve: see StdMeaning::Reserve.
bool reallocates(const clang::FunctionDecl *Method);

/// begin(): where a loop over all elements starts.
bool isBegin(const clang::FunctionDecl *Method);

/// find(): leads to one of the elements.
bool looksUp(const clang::FunctionDecl *F);

/// begin, end, cbegin, data: what they return is invalid without the container.
bool pointsIntoContainer(const clang::FunctionDecl *Method);

/// push_back, emplace_back, insert, emplace: the container keeps a copy of the
/// argument.
bool keepsArgument(const clang::FunctionDecl *Method);

/// assign(n, t), insert(position, n, t): a number before an element says how
/// many copies of it there are. To emplace(7, t) it is a key, or a part.
bool takesNumber(const clang::FunctionDecl *Method);
/// emplace_back: an element is constructed from the arguments.
bool constructsLast(const clang::FunctionDecl *Method);

/// make_shared, make_unique: a constructor gets the arguments as they are.
/// (makesObject() in torch/Types.h has make_intrusive as well.)
bool makesByConstructor(const clang::FunctionDecl *F);

/// tie, ref, forward_as_tuple: the result refers to the arguments.
bool refersToArguments(const clang::FunctionDecl *F);

/// Free functions that only compute a value: move, get, min, ==. Nothing that
/// they are given is written to.
bool onlyComputes(const clang::FunctionDecl *F);

/// generate, transform, copy, swap: write the elements that an iterator leads
/// to.
bool writesElements(const clang::FunctionDecl *F);

/// push_back, emplace_back.
bool appendsOneElement(const clang::FunctionDecl *Method);

/// What they return leads to an argument, or is one; it is not written to: get,
/// tie, move, begin, ref, data.
bool onlyAccesses(const clang::FunctionDecl *F);

/// The same of members that are not const: begin, at, front, get, value. (And
/// [], -> and *.)
bool accessesElement(const clang::FunctionDecl *Method);

/// Another thread may have to do something first: get and wait of a future,
/// join, wait of a condition variable.
bool waitsForThread(const clang::FunctionDecl *F);

/// call_once.
bool callsOnce(const clang::FunctionDecl *F);

/// clear, swap, assign: nothing of what the container held is left in it.
bool replacesElements(const clang::FunctionDecl *Method);

} // namespace torchtidy::torch

#endif
