// What an exception says, of whatever type it is.

#include "Tensors.h"

#include <c10/util/Exception.h>

#include <cstring>
#include <exception>
#include <typeinfo>

namespace torchtidy::confirm::probe {
namespace {

/// The part of the object that is of this type, as a catch clause would find
/// it; null where there is none.
template <typename Type>
const Type *caught(void *Exception, const std::type_info &Of) {
  void *Part = Exception;
  return typeid(Type).__do_catch(&Of, &Part, 1)
             ? static_cast<const Type *>(Part)
             : nullptr;
}

} // namespace

void messageOf(void *Exception, const void *TypeInfo, char *Into,
               uint32_t Room) {
  const auto &Type = *static_cast<const std::type_info *>(TypeInfo);
  const char *Text = "";
  // what() of LibTorch's own looks up the names of all functions on the stack.
  if (const auto *Own = caught<c10::Error>(Exception, Type))
    Text = Own->what_without_backtrace();
  else if (const auto *Other = caught<std::exception>(Exception, Type))
    Text = Other->what();
  uint32_t Size = static_cast<uint32_t>(strcspn(Text, "\n"));
  if (Size >= Room)
    Size = Room - 1;
  std::memcpy(Into, Text, Size);
  Into[Size] = 0;
}

} // namespace torchtidy::confirm::probe
