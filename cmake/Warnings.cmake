# The warnings that all of the project's own C and C++ is compiled with, as one
# function. Generated code and inputs of tests are compiled without it.
include_guard(GLOBAL)

# Off for users: another compiler warns of other things.
option(TORCH_TIDY_WERROR "Warnings are errors, as in CI" OFF)

function(torch_tidy_warnings Target)
  # Callbacks of Clang have parameters that not every override uses.
  target_compile_options(${Target} PRIVATE
    -Wall -Wextra -Wshadow -Wno-unused-parameter
    # Of two sources in one unit, what is global in one is no concern of the other.
    $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-shadow>)
  if(TORCH_TIDY_WERROR)
    # libstdc++ 12 uses what it deprecates, and hides it from warnings, but not where it
    # is in a precompiled header.
    target_compile_options(${Target} PRIVATE -Werror -Wno-error=deprecated-declarations)
  endif()
endfunction()
