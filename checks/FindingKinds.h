// FindingKinds.def as types and tables. torch-confirm includes it too, so it
// knows nothing of LLVM.
#ifndef TORCHTIDY_FINDINGKINDS_H
#define TORCHTIDY_FINDINGKINDS_H

#include <optional>
#include <string_view>

namespace torchtidy {

/// What a finding says; each belongs to one check.
enum class FindingKind {
#define KIND(Id, Check, Name, Means) Id,
#include "FindingKinds.def"
};

/// What the place of a note has to do with its finding.
enum class NoteRole {
#define ROLE(Id, Name, Means) Id,
#include "FindingKinds.def"
};

struct FindingKindInfo {
  FindingKind Kind;
  /// As in Checks.def.
  std::string_view Check;
  /// As in SARIF.
  std::string_view Name;
  std::string_view Means;
};

struct NoteRoleInfo {
  NoteRole Role;
  std::string_view Name, Means;
};

/// All kinds, in the order of the enumerators.
inline constexpr FindingKindInfo FindingKinds[] = {
#define KIND(Id, Check, Name, Means) {FindingKind::Id, Check, Name, Means},
#include "FindingKinds.def"
};

/// All roles, in the order of the enumerators.
inline constexpr NoteRoleInfo NoteRoles[] = {
#define ROLE(Id, Name, Means) {NoteRole::Id, Name, Means},
#include "FindingKinds.def"
};

constexpr const FindingKindInfo &infoOf(FindingKind Kind) {
  return FindingKinds[static_cast<unsigned>(Kind)];
}

constexpr const NoteRoleInfo &infoOf(NoteRole Role) {
  return NoteRoles[static_cast<unsigned>(Role)];
}

/// The kind of this name; nothing if the check has no such kind.
constexpr std::optional<FindingKind> findKind(std::string_view Check,
                                              std::string_view Name) {
  for (const FindingKindInfo &Each : FindingKinds)
    if (Each.Check == Check && Each.Name == Name)
      return Each.Kind;
  return std::nullopt;
}

/// The one kind of a check; nothing where it has several, or none.
constexpr std::optional<FindingKind> onlyKind(std::string_view Check) {
  std::optional<FindingKind> Result;
  for (const FindingKindInfo &Each : FindingKinds) {
    if (Each.Check != Check)
      continue;
    if (Result)
      return std::nullopt;
    Result = Each.Kind;
  }
  return Result;
}

constexpr std::optional<NoteRole> findRole(std::string_view Name) {
  for (const NoteRoleInfo &Each : NoteRoles)
    if (Each.Name == Name)
      return Each.Role;
  return std::nullopt;
}

} // namespace torchtidy

#endif
