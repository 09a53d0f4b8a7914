# What programs with LLVM inside need beside them: Clang's own headers, where
# tool/torch-tidy/inputs/OwnHeaders.h looks for them. And the licences of all that is
# linked in.
if(CMAKE_CROSSCOMPILING)
  # It may not run here.
  set(ResourceDir "${LLVM_LIBRARY_DIR}/clang/${LLVM_VERSION_MAJOR}")
else()
  execute_process(COMMAND "${ClangTidy_CLANG}" -print-resource-dir
    OUTPUT_VARIABLE ResourceDir OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
endif()
set(Documents "${CMAKE_INSTALL_DATADIR}/torch-tidy")
install(DIRECTORY "${ResourceDir}/include"
  DESTINATION "${Documents}/clang/${LLVM_VERSION_MAJOR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${Documents}")
foreach(Package IN ITEMS libclang-19-dev zlib1g-dev libzstd-dev libyaml-cpp-dev
                         nlohmann-json3-dev libcli11-dev libstdc++-12-dev)
  if(EXISTS "/usr/share/doc/${Package}/copyright")
    install(FILES "/usr/share/doc/${Package}/copyright"
            DESTINATION "${Documents}/licenses" RENAME "${Package}.txt")
  endif()
endforeach()
