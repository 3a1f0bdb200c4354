// The articles' kernels, as the articles have them.
#pragma once

namespace iruka::test {

struct ArticleText {
  const char *inputs, *outputs, *name;
  int rank;  ///< of its raw arrays
  const char* operation;
  const char* preamble = "";
};

inline constexpr ArticleText kMatAdd{"float32 x, float32 y", "float32 z", "mat_add_kernel", 1,
                                     R"(
        z = x + y;
        )"};

inline constexpr ArticleText kRoll{"raw int16 x", "int16 z", "roll_kernel", 1,
                                   R"(
        int idx = (i + 1) % _ind.size();
        z = x[idx];
        )"};

inline constexpr ArticleText kIndexAndCount{"raw int16 x", "int16 z, int16 ind_size", "get_index_kernel", 2,
                                            R"(
        z = i;
        ind_size = _ind.size();
        )"};

inline constexpr ArticleText kRowsAndColumns{"raw int16 x, int16 width", "int16 z", "get_index_kernel_2d", 2,
                                             R"(
        int x_idx = i%width;
        int y_idx = i/width;
        z = y_idx * 10 + x_idx;
        )"};

inline constexpr ArticleText kRowsAndColumnsByFunctions{"raw int16 x, int16 width",
                                                        "int16 z",
                                                        "get_index_kernel_2d",
                                                        2,
                                                        R"(
        int x_idx = get_x_idx(i, width);
        int y_idx = get_y_idx(i, width);
        z = y_idx * 10 + x_idx;
        )",
                                                        R"(
        __device__ int get_x_idx(int i, int width) {
            return i%width;
        }
        __device__ int get_y_idx(int i, int width) {
            return i/width;
        }
        )"};

inline constexpr ArticleText kThreeChannels{"raw int16 x, int16 width, int16 height", "raw int16 z",
                                            "get_index_kernel_2d", 3,
                                            R"(
        int x_idx = i%width;
        int y_idx = i/width;
        z[i*2] = x[i*3] + x[i*3+1];
        z[i*2+1] = x[i*3+1] + x[i*3+2];
        )"};

inline constexpr ArticleText kLocalMean{"raw float32 input, int16 width, int16 height",
                                        "float32 output",
                                        "local_mean",
                                        2,
                                        R"(
        int x_idx = get_x_idx(i, width);
        int y_idx = get_y_idx(i, width);
        output = calc_local_mean(x_idx, y_idx, width, height, input);
        )",
                                        R"(
        __device__ int get_x_idx(int i, int width) {
            return i%width;
        }
        __device__ int get_y_idx(int i, int width) {
            return i/width;
        }
        __device__ float calc_local_mean(int x_idx, int y_idx,
                                         int width, int height,
                                         CArray<float, 2> &input) {
            float mean = 0;
            int count = 0;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    int x = x_idx + dx;
                    int y = y_idx + dy;
                    if (x < 0 || x >= width || y < 0 || y >= height) continue;
                    int idx[] = {y, x};
                    mean += input[idx];
                    count += 1;
                }
            }
            return mean / count;
        }
        )"};

inline constexpr ArticleText kLinearLayer{
    "raw float32 input_matrix, int16 n_of_current_layer, int16 n_of_next_layer, raw float32 weight, raw float32 bias",
    "raw float32 output_matrix", "elementwise_linear_layer", 2,
    R"(
    float elementwise_product;
    for (int r = 0; r < n_of_next_layer; r++){
        elementwise_product = 0;
        for (int c = 0; c < n_of_current_layer; c++){
            elementwise_product += weight[r * n_of_current_layer + c] * input_matrix[i * n_of_current_layer + c];
        }
        output_matrix[i * n_of_next_layer + r] = elementwise_product + bias[r];
    }
    )"};

inline constexpr ArticleText kNearestPatches{
    "raw float32 imgA, raw float32 imgB,\
                   uint16 widthA, uint16 heightA,\
                   uint16 widthB, uint16 heightB,\
                   uint16 pr",
    "raw uint16 nnf",
    "get_nnf_kernel",
    3,
    R"(
        int x_A = get_x_idx(i, widthA);
        int y_A = get_y_idx(i, widthA);

        float min_MSE = 1e6;
        float MSE;
        int nnp[2];
        for (int y_B = 0; y_B < heightB; y_B++) {
            for (int x_B = 0; x_B < widthB; x_B++) {
                MSE = inter_patch_MSE(widthA, heightA,
                                      widthB, heightB,
                                      x_A, y_A, x_B, y_B,
                                      imgA, imgB, pr);
                if (MSE < min_MSE) {
                    min_MSE = MSE;
                    nnp[0] = x_B;
                    nnp[1] = y_B;
                }
            }
        }
        nnf[i*2] = nnp[0];
        nnf[i*2+1] = nnp[1];
        )",
    R"(
        __device__ int get_x_idx(int i, int width) {
            return i%width;
        }
        __device__ int get_y_idx(int i, int width) {
            return i/width;
        }
        __device__ float inter_patch_MSE(int widthA, int heightA,
                                         int widthB, int heightB,
                                         int x_A, int y_A,
                                         int x_B, int y_B,
                                         CArray<float, 3> &imgA,
                                         CArray<float, 3> &imgB, int pr) {
            int ix_A;
            int iy_A;
            int ix_B;
            int iy_B;
            int i_A;
            int i_B;
            float MSE = 0;
            for (int dy = pr*(-1); dy <= pr; dy++){
                for (int dx = pr*(-1); dx <= pr; dx++){
                    ix_A = x_A + dx;
                    iy_A = y_A + dy;
                    ix_B = x_B + dx;
                    iy_B = y_B + dy;
                    ix_A = max(0, min(widthA - 1, ix_A));
                    iy_A = max(0, min(heightA - 1, iy_A));
                    ix_B = max(0, min(widthB - 1, ix_B));
                    iy_B = max(0, min(heightB - 1, iy_B));

                    i_A = ix_A + widthA * iy_A;
                    i_B = ix_B + widthB * iy_B;

                    MSE += powf(imgA[i_A*3] - imgB[i_B*3], 2);
                    MSE += powf(imgA[i_A*3+1] - imgB[i_B*3+1], 2);
                    MSE += powf(imgA[i_A*3+2] - imgB[i_B*3+2], 2);
                }
            }
            MSE = MSE / ((pr*2+1) * 3);
            return MSE;
        }
        )"};

inline constexpr const ArticleText* kArticleTexts[] = {
    &kMatAdd,        &kRoll,      &kIndexAndCount, &kRowsAndColumns, &kRowsAndColumnsByFunctions,
    &kThreeChannels, &kLocalMean, &kLinearLayer,   &kNearestPatches};

}  // namespace iruka::test
