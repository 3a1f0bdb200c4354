# embed_text(OUTPUT NAMESPACE FUNCTION FILE...): a C++ file that defines
#   std::span<const std::pair<std::string_view, std::string_view>> NAMESPACE::FUNCTION()
# with the name and the text of each file; kernel code is named by its path, "ops/reduce/kernels/sums.h".
set(IRUKA_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_text_script.cmake)
function(embed_text output namespace function)
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DFUNCTION=${function} "-DFILES=${joined}"
            -P ${IRUKA_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${IRUKA_EMBED_SCRIPT}
    VERBATIM)
endfunction()

# embed_kernels(TARGET HEADER NAMESPACE FILE...): a header, built before TARGET, that defines for each file NAME.h
#   inline constexpr const char* NAMESPACE::NAME
# its text.
set(IRUKA_EMBED_KERNELS_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_kernels_script.cmake)
function(embed_kernels target header namespace)
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${header} -DNAMESPACE=${namespace} "-DFILES=${joined}"
            -P ${IRUKA_EMBED_KERNELS_SCRIPT}
    DEPENDS ${ARGN} ${IRUKA_EMBED_KERNELS_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${header})
endfunction()
