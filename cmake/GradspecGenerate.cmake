# gradspec_generate: sources that gradspec emits, as part of a target.
#
#   list(APPEND CMAKE_MODULE_PATH "<what `python -m gradspec --cmake-dir` prints>")
#   include(GradspecGenerate)
#
#   gradspec_generate(TARGET target
#                     SPECS spec.grad ... | TORCH [dir]
#                     OUTPUTS Functions.h Functions.cpp ...
#                     [SCHEMAS native_functions.yaml | torch]
#                     [BACKEND cpp] [OPTIONS key=value ...] [EXTERNS name ...] [STRICT]
#                     [FOLDER dir])
#
# The target must exist. Of what is emitted, OUTPUTS are the files that the build knows: sources among them are compiled into the
# target. FOLDER, by default gradspec/<target> in the build folder, gets them, and is among the target's include folders. A custom
# target, for a backend whose files nobody compiles, depends on them and no more.
#
# A build emits again when a spec, a schema, a grammar, a template or gradspec itself has changed, and at no other time; of the
# files, it touches those alone whose text is another. GRADSPEC_COMMAND is how gradspec is run.

cmake_minimum_required(VERSION 3.21)

if(NOT GRADSPEC_COMMAND)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(GRADSPEC_COMMAND "${Python3_EXECUTABLE};-m;gradspec" CACHE STRING "How gradspec is run, as a list")
endif()

function(gradspec_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "STRICT" "TARGET;SCHEMAS;BACKEND;FOLDER" "SPECS;TORCH;OPTIONS;EXTERNS;OUTPUTS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gradspec_generate: what is `${arg_UNPARSED_ARGUMENTS}`?")
  endif()
  if(NOT TARGET "${arg_TARGET}")
    message(FATAL_ERROR "gradspec_generate: TARGET `${arg_TARGET}` is no target")
  endif()
  if(NOT arg_OUTPUTS)
    message(FATAL_ERROR "gradspec_generate: OUTPUTS are missing: the files of which the build is to know")
  endif()
  set(torch FALSE)
  if(DEFINED arg_TORCH OR "TORCH" IN_LIST arg_KEYWORDS_MISSING_VALUES)
    set(torch TRUE)
  endif()
  if(torch AND arg_SPECS OR NOT torch AND NOT arg_SPECS)
    message(FATAL_ERROR "gradspec_generate: give SPECS or TORCH")
  endif()
  if(NOT arg_BACKEND)
    set(arg_BACKEND cpp)
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER "gradspec/${arg_TARGET}")
  endif()
  cmake_path(ABSOLUTE_PATH arg_FOLDER BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)

  set(inputs "")
  foreach(spec IN LISTS arg_SPECS)
    cmake_path(ABSOLUTE_PATH spec BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND inputs "${spec}")
  endforeach()
  set(command ${GRADSPEC_COMMAND} emit ${inputs} --backend "${arg_BACKEND}" --out "${arg_FOLDER}")
  if(torch)
    list(APPEND command --torch ${arg_TORCH})
  endif()
  if(arg_SCHEMAS)
    if(NOT arg_SCHEMAS STREQUAL "torch")
      cmake_path(ABSOLUTE_PATH arg_SCHEMAS BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      list(APPEND inputs "${arg_SCHEMAS}")
    endif()
    list(APPEND command --schemas "${arg_SCHEMAS}")
  endif()
  if(arg_STRICT)
    list(APPEND command --strict)
  endif()
  foreach(option IN LISTS arg_OPTIONS)
    list(APPEND command -O "${option}")
  endforeach()
  foreach(extern IN LISTS arg_EXTERNS)
    list(APPEND command --extern "${extern}")
  endforeach()

  # The emitted files keep their times where their text is the same: a stamp says when they were last looked at.
  set(name "${arg_TARGET}_${arg_BACKEND}")
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/gradspec_${name}.stamp")
  list(TRANSFORM arg_OUTPUTS PREPEND "${arg_FOLDER}/" OUTPUT_VARIABLE outputs)
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${outputs}
    COMMAND ${command} --depfile "${stamp}.d" --stamp "${stamp}"
    DEPENDS ${inputs}
    DEPFILE "${stamp}.d"
    COMMENT "gradspec: ${name}"
    VERBATIM)
  add_custom_target("${name}_generate" DEPENDS "${stamp}")
  add_dependencies("${arg_TARGET}" "${name}_generate")

  get_target_property(type "${arg_TARGET}" TYPE)
  if(NOT type STREQUAL "UTILITY")
    set_source_files_properties(${outputs} PROPERTIES GENERATED TRUE)
    target_sources("${arg_TARGET}" PRIVATE ${outputs})
    target_include_directories("${arg_TARGET}" PUBLIC "$<BUILD_INTERFACE:${arg_FOLDER}>")
  endif()
endfunction()
