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
