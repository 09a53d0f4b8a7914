# What the page of torch-confirm report is made of lies beside the probe's sources: our
# own files (export/page), the schema of the report, and the libraries that draw, which
# npm fetches by the pins in third_party/page. Where it cannot, all else is built, and
# torch-confirm says that it has no page; a package is not made without
# (TORCH_CONFIRM_PAGE=ON).
set(TORCH_CONFIRM_PAGE "AUTO" CACHE STRING
  "Fetch by npm what draws in pages: AUTO (where it can be), ON (or fail), OFF")
set_property(CACHE TORCH_CONFIRM_PAGE PROPERTY STRINGS AUTO ON OFF)

set(PagePins "${CMAKE_CURRENT_SOURCE_DIR}/../../third_party/page")
set(PageLibraries "${BuildData}/page-libraries")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${PagePins}/package-lock.json" "${PagePins}/fetch")
if(TORCH_CONFIRM_PAGE)
  # The pins that the last time was fetched by.
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files
    "${PagePins}/package-lock.json" "${PageLibraries}/package-lock.json"
    RESULT_VARIABLE PageIsOld OUTPUT_QUIET ERROR_QUIET)
  if(PageIsOld)
    execute_process(COMMAND "${PagePins}/fetch" "${PageLibraries}" TIMEOUT 180
      RESULT_VARIABLE PageFailed ERROR_VARIABLE PageError OUTPUT_QUIET)
    if(PageFailed AND TORCH_CONFIRM_PAGE STREQUAL "AUTO")
      message(STATUS "torch-confirm: no HTML pages, for what draws in them could not be "
        "fetched: ${PageError}")
    elseif(PageFailed)
      message(FATAL_ERROR "TORCH_CONFIRM_PAGE is ON, and what draws in pages could not be "
        "fetched: ${PageError}")
    endif()
  endif()
endif()

file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/export/page" "${BuildData}/page" SYMBOLIC)
file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/export/report.schema.json"
  "${BuildData}/report.schema.json" SYMBOLIC)
install(DIRECTORY export/page "${PageLibraries}"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/torch-confirm" OPTIONAL)
install(FILES export/report.schema.json
  DESTINATION "${CMAKE_INSTALL_DATADIR}/torch-confirm")
