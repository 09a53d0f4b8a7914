# Finds LLVM and Clang of version TORCH_TIDY_LLVM, of 19 with clang-tidy's static
# libraries: of another version there is ClangTidy::headers alone, for the plugin.
#
#   ClangTidy::headers   include folders and flags; links nothing. The plugin uses
#                      only this: its LLVM is the host's.
#   ClangTidy::clang     libclang-cpp and libLLVM, for programs and unit tests.
#   ClangTidy::tidy      clang-tidy's libraries with all stock checks, on top of
#                      ClangTidy::clang. Never mix these with static libclang*.a:
#                      LLVM then dies of "Option registered more than once".
#   ClangTidy::clangd    clangd's libraries, on top of ClangTidy::tidy.
#
# With ClangTidy_STATIC all of LLVM is linked into the programs, which then run where
# there is none; the plugin links none of it, as before. Z3, which LLVM's static
# analyzer can use and its archives refer to, is left out: ClangNoZ3.cpp.
#
# Debian: clang-tidy-19 libclang-19-dev llvm-19-dev llvm-19-tools clang-19.
# Elsewhere: -DCMAKE_PREFIX_PATH=<LLVM>.

set(TORCH_TIDY_LLVM 19 CACHE STRING
  "Whose clang-tidy loads the plugin; for another than 19 the plugin alone is built")
set(_llvm "${TORCH_TIDY_LLVM}")
find_package(LLVM ${_llvm}.1 CONFIG QUIET HINTS /usr/lib/llvm-${_llvm})
if(NOT LLVM_FOUND)
  message(FATAL_ERROR
    "LLVM ${_llvm} was not found. On Debian: apt-get install llvm-${_llvm}-dev "
    "libclang-${_llvm}-dev llvm-${_llvm}-tools clang-tidy-${_llvm} clang-${_llvm} "
    "(of 19 tool/quickstart does it). "
    "Elsewhere: -DCMAKE_PREFIX_PATH=<folder of LLVM ${_llvm}>.")
endif()

set(_llvm_lib "${LLVM_LIBRARY_DIRS}")
find_path(ClangTidy_INCLUDE_DIR clang/AST/ASTContext.h
  HINTS ${LLVM_INCLUDE_DIRS} ${LLVM_INSTALL_PREFIX}/include NO_DEFAULT_PATH)
# Debian's development package has no libclang-cpp.so link: name the file.
find_library(ClangTidy_CPP_LIBRARY
  NAMES clang-cpp libclang-cpp.so.${_llvm}.1 libclang-cpp.so.${_llvm}
  HINTS ${_llvm_lib} NO_DEFAULT_PATH)
find_library(ClangTidy_TIDY_LIBRARY NAMES clangTidy HINTS ${_llvm_lib} NO_DEFAULT_PATH)
find_program(ClangTidy_CLANG NAMES clang++ clang++-${_llvm}
  HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(ClangTidy_CLANG_TIDY NAMES clang-tidy clang-tidy-${_llvm}
  HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(ClangTidy_FILECHECK NAMES FileCheck FileCheck-${_llvm}
  HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
file(GLOB ClangTidy_TIDY_MODULES "${_llvm_lib}/libclangTidy*Module.a")

set(_clang_required ClangTidy_INCLUDE_DIR)
if(_llvm EQUAL 19)
  list(APPEND _clang_required ClangTidy_CPP_LIBRARY ClangTidy_TIDY_LIBRARY)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ClangTidy
  REQUIRED_VARS ${_clang_required}
  VERSION_VAR LLVM_PACKAGE_VERSION
  REASON_FAILURE_MESSAGE
  "Debian: apt-get install libclang-${_llvm}-dev clang-tidy-${_llvm}")

# Archives that need one another, as one flag: of flags that are alike, and several
# groups have some, CMake keeps one.
function(_clang_group Result)
  list(JOIN ARGN "," Joined)
  set(${Result} "-Wl,--start-group,${Joined},--end-group" PARENT_SCOPE)
endfunction()

if(ClangTidy_FOUND AND NOT TARGET ClangTidy::headers)
  add_library(ClangTidy::headers INTERFACE IMPORTED)
  separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  list(TRANSFORM _llvm_definitions REPLACE "^-D" "")
  set(_llvm_flags $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
  if(NOT LLVM_ENABLE_RTTI)
    list(APPEND _llvm_flags $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
  endif()
  set_target_properties(ClangTidy::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${ClangTidy_INCLUDE_DIR};${LLVM_INCLUDE_DIRS}"
    INTERFACE_COMPILE_DEFINITIONS "${_llvm_definitions}"
    INTERFACE_COMPILE_OPTIONS "${_llvm_flags}")
endif()
if(ClangTidy_FOUND AND _llvm EQUAL 19 AND NOT TARGET ClangTidy::clang)
  if(ClangTidy_STATIC)
    # Their folder has more: the programs' main functions, clangd's, clang-tidy's own.
    file(GLOB ClangTidy_STATIC_LIBRARIES "${_llvm_lib}/libclang[A-Z]*.a")
    list(FILTER ClangTidy_STATIC_LIBRARIES EXCLUDE REGEX
      "/libclang(Tidy|Daemon|Doc|Pseudo|ChangeNamespace|Move|Query|Reorder|IncludeFixer|ApplyReplacements)[^/]*$")
    file(GLOB _llvm_archives "${_llvm_lib}/libLLVM*.a")
    _clang_group(_clang_link ${ClangTidy_STATIC_LIBRARIES})
    _clang_group(_llvm_link ${_llvm_archives})
    list(APPEND _llvm_link -Wl,--gc-sections)
    foreach(Library IN ITEMS z zstd)
      find_library(ClangTidy_${Library}_ARCHIVE lib${Library}.a)
      mark_as_advanced(ClangTidy_${Library}_ARCHIVE)
      if(NOT ClangTidy_${Library}_ARCHIVE)
        message(FATAL_ERROR "ClangTidy_STATIC needs lib${Library}.a. "
          "Debian: apt-get install zlib1g-dev libzstd-dev")
      endif()
      list(APPEND _llvm_link "${ClangTidy_${Library}_ARCHIVE}")
    endforeach()
    list(APPEND _llvm_link dl m pthread -static-libstdc++ -static-libgcc)
    # Before the archives: what is defined already is not taken from them.
    add_library(ClangNoZ3 OBJECT "${CMAKE_CURRENT_LIST_DIR}/ClangNoZ3.cpp")
    target_link_libraries(ClangNoZ3 PRIVATE ClangTidy::headers)
    list(PREPEND _clang_link "$<TARGET_OBJECTS:ClangNoZ3>")
  elseif(TARGET LLVM)
    set(_llvm_link LLVM)
  else()
    llvm_map_components_to_libnames(_llvm_link support option targetparser
      frontendopenmp core all-targets)
  endif()
  if(NOT ClangTidy_STATIC)
    set(_clang_link "${ClangTidy_CPP_LIBRARY}")
  endif()
  add_library(ClangTidy::clang INTERFACE IMPORTED)
  set_target_properties(ClangTidy::clang PROPERTIES
    INTERFACE_LINK_LIBRARIES "ClangTidy::headers;${_clang_link};${_llvm_link}")
  _clang_group(_tidy_link "${ClangTidy_TIDY_LIBRARY}" ${ClangTidy_TIDY_MODULES}
    "${_llvm_lib}/libclangTidyUtils.a" "${_llvm_lib}/libclangIncludeCleaner.a")
  add_library(ClangTidy::tidy INTERFACE IMPORTED)
  set_target_properties(ClangTidy::tidy PROPERTIES
    INTERFACE_LINK_LIBRARIES "${_tidy_link};ClangTidy::clang")
  _clang_group(_clangd_link "${_llvm_lib}/libclangdMain.a" "${_llvm_lib}/libclangDaemon.a"
    "${_llvm_lib}/libclangdSupport.a" "${_llvm_lib}/libclangPseudo.a")
  add_library(ClangTidy::clangd INTERFACE IMPORTED)
  set_target_properties(ClangTidy::clangd PROPERTIES
    INTERFACE_LINK_LIBRARIES
    "-Wl,--whole-archive,${_llvm_lib}/libclangDaemonTweaks.a,--no-whole-archive;${_clangd_link};ClangTidy::tidy")
endif()
mark_as_advanced(ClangTidy_INCLUDE_DIR ClangTidy_CPP_LIBRARY ClangTidy_TIDY_LIBRARY
  ClangTidy_CLANG ClangTidy_CLANG_TIDY ClangTidy_FILECHECK)
