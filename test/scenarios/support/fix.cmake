# Copies SOURCE to RESULT and lets ANALYZER apply the fixes of CHECK to the copy.
configure_file("${SOURCE}" "${RESULT}" COPYONLY)
execute_process(
  COMMAND "${ANALYZER}" "--checks=-*,${CHECK}" --fix "${RESULT}" -- ${FLAGS}
  OUTPUT_VARIABLE Output ERROR_VARIABLE Output RESULT_VARIABLE Code)
file(SHA256 "${SOURCE}" Before)
file(SHA256 "${RESULT}" After)
if(NOT Code EQUAL 0 OR Before STREQUAL After)
  file(REMOVE "${RESULT}")
  message(FATAL_ERROR "${ANALYZER} has fixed nothing in ${SOURCE} (exit ${Code}):\n${Output}")
endif()
