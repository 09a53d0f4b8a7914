// What a precompiled header was made of, and whether it is still the same.
#ifndef TORCHTIDY_TOOL_CACHE_INPUTS_H
#define TORCHTIDY_TOOL_CACHE_INPUTS_H

#include "headers/PrecompiledHeader.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace torchtidy::tool {

/// Size, inode and change time. Any write to the file changes it, whatever is
/// done to its times afterwards; so does a copy of it, and a link that now
/// leads to another file. Of a folder it changes with its entries. Empty where
/// nothing is there.
std::string stampOf(const std::string &Path);

/// What lies at a path: a header is looked for further on where a folder has
/// its name.
enum class Kind : char { Nothing, File, Folder };
Kind kindOf(const std::string &Path);
/// Adds a name, which has no slash, and what it is, to a list of those that are
/// there.
void addPresent(llvm::StringRef Name, Kind What, std::string &List);

std::string hashOfText(llvm::StringRef Text);
/// Empty for what cannot be read.
std::string hashOfFile(const std::string &Path);

/// What will tell whether a file has changed: path, stamp, hash.
llvm::json::Value describeFile(const std::string &Path);
/// Where the stamp differs the content decides: the same files may have been
/// unpacked again.
bool isUnchangedFile(const llvm::json::Value &Described);

/// Whether the file was written after Other, or so shortly before that their
/// change times are the same; also where it is not there.
bool isWrittenSince(const std::string &Path, const std::string &Other);

/// What will tell whether a header that was asked for would now be found, or be
/// found elsewhere: which of the names that were asked for the folders on the
/// way hold.
llvm::json::Value describeLookups(const HeaderLookups &Lookups);
bool areUnchangedLookups(const llvm::json::Value &Described);

} // namespace torchtidy::tool

#endif
