# Finds LibTorch for use on the CPU, without a CUDA toolkit: the TorchConfig.cmake
# of a CUDA build insists on one, so it is not used.
#
#   LibTorch::cpu          compile and link
#   LibTorch_INCLUDE_DIRS  what a compiler that is not CMake's needs
#   LibTorch_FLAGS         the same as compiler flags (-isystem ..., -D...)
#   LibTorch_VERSION       as torch/version.h says
#   LibTorch_ROOT_DIR      the folder that holds include/ and lib/
#
# The order of search:
#   1. -DTorch_DIR=<folder> (or the environment variable Torch_DIR): an unpacked
#      LibTorch, its share/cmake/Torch, site-packages/torch of a Python
#      environment, the environment itself, or /usr. Nothing else is tried then.
#   2. what third_party/fetch-libtorch has brought
#   3. CMAKE_PREFIX_PATH
#   4. Debian's libtorch-dev

set(_lt_header torch/csrc/api/include/torch/torch.h)

# The LibTorch folder that Start means: itself, a folder above it, or one below it.
function(_libtorch_root Result Start)
  get_filename_component(Folder "${Start}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
  file(GLOB Below "${Folder}/lib/python3*/site-packages/torch")
  set(Candidates "${Folder}/torch" "${Folder}/libtorch" ${Below})
  # Debian's is the deepest: <root>/lib/<triple>/cmake/Torch.
  foreach(Level RANGE 4)
    list(INSERT Candidates ${Level} "${Folder}")
    get_filename_component(Folder "${Folder}" DIRECTORY)
  endforeach()
  foreach(Candidate IN LISTS Candidates)
    if(EXISTS "${Candidate}/include/${_lt_header}")
      set(${Result} "${Candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${Result} "" PARENT_SCOPE)
endfunction()

set(_lt_given "${Torch_DIR}")
if(NOT _lt_given)
  set(_lt_given "$ENV{Torch_DIR}")
endif()
set(_lt_root "")
if(_lt_given)
  _libtorch_root(_lt_root "${_lt_given}")
  if(NOT _lt_root)
    message(FATAL_ERROR
      "Torch_DIR=${_lt_given} is no LibTorch: there is no include/${_lt_header} in it "
      "or above it. Give an unpacked LibTorch, its share/cmake/Torch, or a Python "
      "environment's site-packages/torch.")
  endif()
else()
  # The folder's name follows from the pins, as in third_party/fetch-libtorch.
  set(_lt_pins "${CMAKE_CURRENT_LIST_DIR}/../libtorch-requirements.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_lt_pins}")
  file(STRINGS "${_lt_pins}" _lt_pin REGEX "^torch==")
  string(REGEX REPLACE "^torch==([0-9.]+).*" "libtorch-\\1" _lt_pin "${_lt_pin}")
  if(NOT "$ENV{TORCH_TIDY_CACHE}" STREQUAL "")
    set(_lt_cache "$ENV{TORCH_TIDY_CACHE}")
  elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(_lt_cache "$ENV{XDG_CACHE_HOME}/torch-tidy")
  else()
    set(_lt_cache "$ENV{HOME}/.cache/torch-tidy")
  endif()
  set(_lt_places "")
  if(EXISTS "${_lt_cache}/${_lt_pin}/.torch-tidy-stamp")
    list(APPEND _lt_places "${_lt_cache}/${_lt_pin}/torch")
    set(LibTorch_FETCHED "${_lt_cache}/${_lt_pin}/torch" CACHE INTERNAL "")
  endif()
  # TORCH_TIDY_CACHE may be set in the shell that configured, and not in the one
  # that builds and so configures again.
  if(LibTorch_FETCHED)
    list(APPEND _lt_places "${LibTorch_FETCHED}")
  endif()
  foreach(_lt_place IN LISTS _lt_places CMAKE_PREFIX_PATH ITEMS /usr)
    _libtorch_root(_lt_root "${_lt_place}")
    if(_lt_root)
      break()
    endif()
  endforeach()
endif()

# Found anew at every configuration, so that another Torch_DIR takes effect in an
# old build folder.
set(LibTorch_ROOT_DIR "${_lt_root}")
set(LibTorch_VERSION "")
foreach(_lt_file torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(_lt_root AND NOT LibTorch_VERSION AND EXISTS "${_lt_root}/include/${_lt_file}")
    file(STRINGS "${_lt_root}/include/${_lt_file}" _lt_lines
      REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX MATCHALL "[0-9]+" _lt_numbers "${_lt_lines}")
    string(REPLACE ";" "." LibTorch_VERSION "${_lt_numbers}")
  endif()
endforeach()
unset(LibTorch_CPU_LIBRARY CACHE)
unset(LibTorch_C10_LIBRARY CACHE)
if(_lt_root)
  set(_lt_lib "${_lt_root}/lib" "${_lt_root}/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE}")
  find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS ${_lt_lib} NO_DEFAULT_PATH)
  find_library(LibTorch_C10_LIBRARY c10 HINTS ${_lt_lib} NO_DEFAULT_PATH)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_ROOT_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE 
    "LibTorch was not found. tool/quickstart fetches the one that torch-tidy is tested with, -DTorch_DIR=<folder> chooses one of your own.")
mark_as_advanced(LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)

if(LibTorch_FOUND)
  if(LibTorch_VERSION VERSION_LESS 1.13)
    message(WARNING "LibTorch ${LibTorch_VERSION}: the oldest supported is 1.13")
  endif()

  set(LibTorch_INCLUDE_DIRS "${_lt_root}/include"
    "${_lt_root}/include/torch/csrc/api/include")
  # A wheel's CUDA headers lie in wheels beside it; c10/cuda needs them.
  foreach(_lt_folder cu13 cuda_runtime)
    if(EXISTS "${_lt_root}/../nvidia/${_lt_folder}/include")
      get_filename_component(_lt_folder "${_lt_root}/../nvidia/${_lt_folder}/include" ABSOLUTE)
      list(APPEND LibTorch_INCLUDE_DIRS "${_lt_folder}")
      break()
    endif()
  endforeach()
  # The compiler knows it, and as a -isystem it would break #include_next.
  list(REMOVE_ITEM LibTorch_INCLUDE_DIRS /usr/include)

  # Some builds use the C++ ABI of before GCC 5, and only this file says so.
  set(_lt_definitions "")
  if(EXISTS "${_lt_root}/share/cmake/Torch/TorchConfig.cmake")
    file(STRINGS "${_lt_root}/share/cmake/Torch/TorchConfig.cmake" _lt_abi
      REGEX "_GLIBCXX_USE_CXX11_ABI=[01]")
    if(_lt_abi MATCHES "_GLIBCXX_USE_CXX11_ABI=([01])")
      set(_lt_definitions "_GLIBCXX_USE_CXX11_ABI=${CMAKE_MATCH_1}")
    endif()
  endif()

  # LibTorch's LOG and flags are macros of these libraries where it was built with
  # them, as Debian's is.
  set(_lt_libraries "${LibTorch_CPU_LIBRARY}" "${LibTorch_C10_LIBRARY}")
  if(EXISTS "${_lt_root}/include/c10/macros/cmake_macros.h")
    file(STRINGS "${_lt_root}/include/c10/macros/cmake_macros.h" _lt_lines
      REGEX "^#define C10_USE_(GLOG|GFLAGS)")
    foreach(_lt_name glog gflags)
      string(TOUPPER "C10_USE_${_lt_name}" _lt_macro)
      if(_lt_lines MATCHES "${_lt_macro}")
        find_library(LibTorch_${_lt_name}_LIBRARY ${_lt_name})
        mark_as_advanced(LibTorch_${_lt_name}_LIBRARY)
        if(LibTorch_${_lt_name}_LIBRARY)
          list(APPEND _lt_libraries "${LibTorch_${_lt_name}_LIBRARY}")
        endif()
      endif()
    endforeach()
  endif()

  set(LibTorch_FLAGS "")
  foreach(_lt_folder IN LISTS LibTorch_INCLUDE_DIRS)
    list(APPEND LibTorch_FLAGS -isystem "${_lt_folder}")
  endforeach()
  foreach(_lt_definition IN LISTS _lt_definitions)
    list(APPEND LibTorch_FLAGS "-D${_lt_definition}")
  endforeach()

  if(NOT TARGET LibTorch::cpu)
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
    get_filename_component(_lt_lib "${LibTorch_CPU_LIBRARY}" DIRECTORY)
    add_library(LibTorch::cpu INTERFACE IMPORTED)
    # torch_cpu and c10 only: torch would pull torch_cuda, and that 2.5 GB of
    # CUDA libraries which a machine without a GPU lacks. For the same reason
    # symbols that only those define may stay open.
    set_target_properties(LibTorch::cpu PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIRS}"
      INTERFACE_COMPILE_DEFINITIONS "${_lt_definitions}"
      INTERFACE_COMPILE_FEATURES cxx_std_17
      INTERFACE_LINK_OPTIONS "-Wl,--allow-shlib-undefined;-Wl,-rpath,${_lt_lib}"
      INTERFACE_LINK_LIBRARIES "${_lt_libraries};Threads::Threads")
  endif()
endif()
