# Links a program with torch-confirm's probe, instead of preloading it:
#
#   find_package(Torch REQUIRED)
#   add_executable(train train.cpp)
#   target_link_libraries(train PRIVATE ${TORCH_LIBRARIES})
#   include(<torch-confirm>/probe/TorchConfirm.cmake)
#   torch_confirm_probe(train)
#
# Each run of the program then writes torch-confirm.<process id>.trace into the
# folder that it is started in, or the file that TORCH_CONFIRM_TRACE names;
# TORCH_CONFIRM_OFF=1 runs it unwatched. The marks of torch_confirm.h may be used.

set(_torch_confirm_folder "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "")

function(torch_confirm_probe Target)
  if(NOT TARGET torch-confirm-probe)
    add_subdirectory("${_torch_confirm_folder}"
      "${CMAKE_BINARY_DIR}/torch-confirm-probe" EXCLUDE_FROM_ALL)
  endif()
  target_include_directories(${Target} PRIVATE "${_torch_confirm_folder}")
  add_dependencies(${Target} torch-confirm-probe)
  set_property(TARGET ${Target} APPEND PROPERTY LINK_DEPENDS
    "$<TARGET_FILE:torch-confirm-probe>")
  # Of several definitions the first library's counts, so it goes before all others:
  # options come before objects and libraries. Nothing refers to it, so it has to
  # be said that it is needed.
  target_link_options(${Target} PRIVATE "LINKER:--push-state,--no-as-needed"
    "$<TARGET_FILE:torch-confirm-probe>" "LINKER:--pop-state"
    "LINKER:-rpath,$<TARGET_FILE_DIR:torch-confirm-probe>")
endfunction()
