# OpenBLAS from the Python package scipy-openblas32, as in NumPy and SciPy. It is loaded at run time: next to Iruka's
# library, where an installation puts it, or in a build tree from the path found here.
if(NOT IRUKA_OPENBLAS)
  foreach(python ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/.venv/bin/python python3)
    execute_process(COMMAND ${python} -c "import scipy_openblas32 as b; print(b.get_lib_dir(), end='')"
                    OUTPUT_VARIABLE folder ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND EXISTS ${folder}/libscipy_openblas.so)
      set(IRUKA_OPENBLAS ${folder}/libscipy_openblas.so CACHE FILEPATH "libscipy_openblas.so")
      break()
    endif()
  endforeach()
endif()
if(NOT IRUKA_OPENBLAS)
  message(FATAL_ERROR "libscipy_openblas.so was not found: pip install -r requirements/build.txt, or set IRUKA_OPENBLAS")
endif()
