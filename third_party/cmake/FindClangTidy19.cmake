# Finds LLVM and Clang 19 with clang-tidy's static libraries.
#
#   Clang19::headers   include folders and flags; links nothing. The plugin uses
#                      only this: its LLVM is the host's.
#   Clang19::clang     libclang-cpp and libLLVM, for programs and unit tests.
#   Clang19::tidy      clang-tidy's libraries with all stock checks, on top of
#                      Clang19::clang. Never mix these with static libclang*.a:
#                      LLVM then dies of "Option registered more than once".
#   Clang19::clangd    clangd's libraries, on top of Clang19::tidy.
#
# With Clang19_STATIC all of LLVM is linked into the programs, which then run where
# there is none; the plugin links none of it, as before. Z3, which LLVM's static
# analyzer can use and its archives refer to, is left out: Clang19NoZ3.cpp.
#
# Debian: clang-tidy-19 libclang-19-dev llvm-19-dev llvm-19-tools clang-19.
# Elsewhere: -DCMAKE_PREFIX_PATH=<LLVM 19>.

find_package(LLVM 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19)
if(NOT LLVM_FOUND)
  message(FATAL_ERROR
    "LLVM 19 was not found. On Debian: apt-get install llvm-19-dev libclang-19-dev "
    "llvm-19-tools clang-tidy-19 clang-19 (tool/quickstart does it). "
    "Elsewhere: -DCMAKE_PREFIX_PATH=<folder of LLVM 19>.")
endif()

set(_llvm_lib "${LLVM_LIBRARY_DIRS}")
find_path(Clang19_INCLUDE_DIR clang/AST/ASTContext.h
  HINTS ${LLVM_INCLUDE_DIRS} ${LLVM_INSTALL_PREFIX}/include NO_DEFAULT_PATH)
# Debian's development package has no libclang-cpp.so link: name the file.
find_library(Clang19_CPP_LIBRARY
  NAMES clang-cpp libclang-cpp.so.19.1 libclang-cpp.so.19
  HINTS ${_llvm_lib} NO_DEFAULT_PATH)
find_library(Clang19_TIDY_LIBRARY NAMES clangTidy HINTS ${_llvm_lib} NO_DEFAULT_PATH)
find_program(Clang19_CLANG NAMES clang++ clang++-19
  HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(Clang19_CLANG_TIDY NAMES clang-tidy clang-tidy-19
  HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(Clang19_FILECHECK NAMES FileCheck FileCheck-19
  HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
file(GLOB Clang19_TIDY_MODULES "${_llvm_lib}/libclangTidy*Module.a")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ClangTidy19
  REQUIRED_VARS Clang19_INCLUDE_DIR Clang19_CPP_LIBRARY Clang19_TIDY_LIBRARY
  VERSION_VAR LLVM_PACKAGE_VERSION
  REASON_FAILURE_MESSAGE "Debian: apt-get install libclang-19-dev clang-tidy-19")

# Archives that need one another, as one flag: of flags that are alike, and several
# groups have some, CMake keeps one.
function(_clang19_group Result)
  list(JOIN ARGN "," Joined)
  set(${Result} "-Wl,--start-group,${Joined},--end-group" PARENT_SCOPE)
endfunction()

if(ClangTidy19_FOUND AND NOT TARGET Clang19::headers)
  add_library(Clang19::headers INTERFACE IMPORTED)
  separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  list(TRANSFORM _llvm_definitions REPLACE "^-D" "")
  set(_llvm_flags $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
  if(NOT LLVM_ENABLE_RTTI)
    list(APPEND _llvm_flags $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
  endif()
  set_target_properties(Clang19::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Clang19_INCLUDE_DIR};${LLVM_INCLUDE_DIRS}"
    INTERFACE_COMPILE_DEFINITIONS "${_llvm_definitions}"
    INTERFACE_COMPILE_OPTIONS "${_llvm_flags}")
  if(Clang19_STATIC)
    # Their folder has more: the programs' main functions, clangd's, clang-tidy's own.
    file(GLOB Clang19_STATIC_LIBRARIES "${_llvm_lib}/libclang[A-Z]*.a")
    list(FILTER Clang19_STATIC_LIBRARIES EXCLUDE REGEX
      "/libclang(Tidy|Daemon|Doc|Pseudo|ChangeNamespace|Move|Query|Reorder|IncludeFixer|ApplyReplacements)[^/]*$")
    file(GLOB _llvm_archives "${_llvm_lib}/libLLVM*.a")
    _clang19_group(_clang_link ${Clang19_STATIC_LIBRARIES})
    _clang19_group(_llvm_link ${_llvm_archives})
    list(APPEND _llvm_link -Wl,--gc-sections)
    foreach(Library IN ITEMS z zstd)
      find_library(Clang19_${Library}_ARCHIVE lib${Library}.a)
      mark_as_advanced(Clang19_${Library}_ARCHIVE)
      if(NOT Clang19_${Library}_ARCHIVE)
        message(FATAL_ERROR "Clang19_STATIC needs lib${Library}.a. "
          "Debian: apt-get install zlib1g-dev libzstd-dev")
      endif()
      list(APPEND _llvm_link "${Clang19_${Library}_ARCHIVE}")
    endforeach()
    list(APPEND _llvm_link dl m pthread -static-libstdc++ -static-libgcc)
    # Before the archives: what is defined already is not taken from them.
    add_library(Clang19NoZ3 OBJECT "${CMAKE_CURRENT_LIST_DIR}/Clang19NoZ3.cpp")
    target_link_libraries(Clang19NoZ3 PRIVATE Clang19::headers)
    list(PREPEND _clang_link "$<TARGET_OBJECTS:Clang19NoZ3>")
  elseif(TARGET LLVM)
    set(_llvm_link LLVM)
  else()
    llvm_map_components_to_libnames(_llvm_link support option targetparser
      frontendopenmp core all-targets)
  endif()
  if(NOT Clang19_STATIC)
    set(_clang_link "${Clang19_CPP_LIBRARY}")
  endif()
  add_library(Clang19::clang INTERFACE IMPORTED)
  set_target_properties(Clang19::clang PROPERTIES
    INTERFACE_LINK_LIBRARIES "Clang19::headers;${_clang_link};${_llvm_link}")
  _clang19_group(_tidy_link "${Clang19_TIDY_LIBRARY}" ${Clang19_TIDY_MODULES}
    "${_llvm_lib}/libclangTidyUtils.a" "${_llvm_lib}/libclangIncludeCleaner.a")
  add_library(Clang19::tidy INTERFACE IMPORTED)
  set_target_properties(Clang19::tidy PROPERTIES
    INTERFACE_LINK_LIBRARIES "${_tidy_link};Clang19::clang")
  _clang19_group(_clangd_link "${_llvm_lib}/libclangdMain.a" "${_llvm_lib}/libclangDaemon.a"
    "${_llvm_lib}/libclangdSupport.a" "${_llvm_lib}/libclangPseudo.a")
  add_library(Clang19::clangd INTERFACE IMPORTED)
  set_target_properties(Clang19::clangd PROPERTIES
    INTERFACE_LINK_LIBRARIES
    "-Wl,--whole-archive,${_llvm_lib}/libclangDaemonTweaks.a,--no-whole-archive;${_clangd_link};Clang19::tidy")
endif()
mark_as_advanced(Clang19_INCLUDE_DIR Clang19_CPP_LIBRARY Clang19_TIDY_LIBRARY
  Clang19_CLANG Clang19_CLANG_TIDY Clang19_FILECHECK)
