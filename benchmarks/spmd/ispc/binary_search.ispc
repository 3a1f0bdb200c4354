export void binary_search(uniform const float x[], uniform const float table[], uniform int entries,
                          uniform int places[], uniform int begin, uniform int end) {
  foreach (i = begin ... end) {
    int low = 0, high = entries;
    while (low < high) {
      const int middle = (low + high) >> 1;
      if (table[middle] < x[i])
        low = middle + 1;
      else
        high = middle;
    }
    places[i] = low;
  }
}
