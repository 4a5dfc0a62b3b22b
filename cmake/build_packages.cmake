# Headers of Python packages that the build needs, copied into the build folder.
#
# pip builds in an isolated environment whose path changes every time. Compiled against copies, whose path stays, a
# second build compiles only what has changed.

# The folder of a copy of what `expression` says in Python, of the named distribution's version that is installed.
function(copy_build_package distribution expression result)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
      "import importlib.metadata, pathlib, sys; print(importlib.metadata.version('${distribution}'), ${expression}, sep=';')"
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE found RESULT_VARIABLE missing)
  if(missing)
    message(FATAL_ERROR "${distribution} is needed to build: pip install ${distribution}")
  endif()
  list(GET found 0 version)
  list(GET found 1 folder)
  set(copy "${CMAKE_BINARY_DIR}/packages/${distribution}-${version}")
  if(NOT EXISTS "${copy}/complete")
    file(COPY "${folder}/" DESTINATION "${copy}" PATTERN "__pycache__" EXCLUDE)
    file(TOUCH "${copy}/complete")
  endif()
  set(${result} "${copy}" PARENT_SCOPE)
endfunction()
