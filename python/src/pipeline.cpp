// The preprocessing pipeline; iruka.pipeline gives its parts names and defaults.
#include "iruka/pipeline.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "buffer_bytes.h"
#include "convert.h"
#include "device.h"
#include "interop.h"
#include "picture_arguments.h"
#include "raised.h"

namespace iruka::python {

namespace {

using pipeline::Distribution;
using pipeline::OperationHandle;
using pipeline::Value;

/// A Python function that any thread may call.
class Callback {
 public:
  explicit Callback(nb::handle function) : function_(nb::borrow(function).release().ptr(), drop) {}
  /// read(result), with the GIL, of what the function returns for the arguments that make() gives.
  template <class Make, class Read>
  auto call(Make make, Read read) const {
    if (!can_call_python()) throw Interrupted("the interpreter ends");
    const GilHold hold;
    try {
      const nb::tuple arguments = make();
      const nb::object result = nb::steal(PyObject_CallObject(function_.get(), arguments.ptr()));
      if (!result.is_valid()) nb::raise_python_error();
      return read(result);
    } catch (nb::python_error& error) {
      throw RaisedByPython(error);
    }
  }

 private:
  static void drop(PyObject* function) {
    if (!can_call_python()) return;
    const GilHold hold;
    Py_DECREF(function);
  }
  std::shared_ptr<PyObject> function_;
};

/// A value as a source gives it: a path-like object, the bytes of a file, a number or an array.
Value to_value(nb::handle object) {
  if (PyObject_HasAttrString(object.ptr(), "__fspath__")) {
    const nb::object path = package_attribute("os", "fsencode")(object);
    return Value::of_file({PyBytes_AS_STRING(path.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(path.ptr()))});
  }
  if (PyUnicode_Check(object.ptr()))
    throw TypeError("a sample's value is an array, a number, the bytes of a file or a pathlib.Path, not the string " +
                    text_of(nb::repr(object)));
  if (PyBytes_Check(object.ptr())) {
    auto* const data = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(object.ptr()));
    const auto size = static_cast<int64_t>(PyBytes_GET_SIZE(object.ptr()));
    return over_memory(data, Dtype::uint8, {size}, {1}, false, drop_reference(nb::borrow(object)), cpu());
  }
  return as_array(object, cpu());
}

std::vector<Value> to_values(nb::handle sample) {
  std::vector<Value> values;
  if (!PyTuple_Check(sample.ptr())) {
    values.push_back(to_value(sample));
    return values;
  }
  for (nb::handle value : nb::borrow<nb::tuple>(sample)) values.push_back(to_value(value));
  return values;
}

/// A sample, or an exception in its place.
pipeline::GivenSample given_sample(nb::handle sample) {
  try {
    if (!PyExceptionInstance_Check(sample.ptr())) return {.values = to_values(sample)};
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(sample.ptr())), sample.ptr());
    nb::raise_python_error();
  } catch (nb::python_error& error) {
    return {.values = {}, .error = std::make_exception_ptr(RaisedByPython(error))};
  }
}

class PythonSource final : public pipeline::Source {
 public:
  PythonSource(int64_t size, int values, nb::handle sample, nb::handle describe)
      : size_(size), values_(values), sample_(sample), describe_(describe) {}
  int64_t size() const override { return size_; }
  int values() const override { return values_; }
  bool calls_functions() const override { return true; }
  std::vector<Value> sample(int64_t index) const override {
    return sample_.call([&] { return nb::make_tuple(index); }, to_values);
  }
  std::string describe(int64_t index) const override {
    return describe_.call([&] { return nb::make_tuple(index); },
                          [](nb::handle text) { return text_of(nb::str(text)); });
  }

 private:
  int64_t size_;
  int values_;
  Callback sample_, describe_;
};

class PythonSequence final : public pipeline::Source {
 public:
  PythonSequence(int values, nb::handle next, nb::handle begin) : values_(values), next_(next), begin_(begin) {}
  int64_t size() const override { return 0; }
  int values() const override { return values_; }
  std::vector<Value> sample(int64_t) const override { return {}; }
  bool is_sequential() const override { return true; }
  std::vector<pipeline::GivenSample> next(int64_t count) override {
    return next_.call([&] { return nb::make_tuple(count); },
                      [](nb::handle list) {
                        std::vector<pipeline::GivenSample> samples;
                        for (nb::handle sample : list) samples.push_back(given_sample(sample));
                        return samples;
                      });
  }
  void begin(int64_t epoch) override {
    begin_.call([&] { return nb::make_tuple(epoch); }, [](nb::handle) { return 0; });
  }

 private:
  int values_;
  Callback next_, begin_;
};

std::string path_of(nb::handle path) {
  if (!PyBytes_Check(path.ptr())) throw TypeError("a path must be bytes, not " + describe(path.type()));
  return {PyBytes_AS_STRING(path.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(path.ptr()))};
}

std::shared_ptr<pipeline::Source> files(const nb::list& paths, nb::handle labels) {
  std::vector<std::string> names;
  for (nb::handle path : paths) names.push_back(path_of(path));
  std::vector<int64_t> numbers;
  if (!labels.is_none()) {
    for (nb::handle label : labels) numbers.push_back(to_int64(label, "a label"));
  }
  return pipeline::files(std::move(names), std::move(numbers));
}

nb::list bytes_of(const std::vector<std::string>& paths) {
  nb::list list;
  for (const std::string& path : paths) list.append(nb::bytes(path.data(), path.size()));
  return list;
}

nb::list list_files(const nb::bytes& path, std::vector<std::string> extensions, const std::string& function) {
  return bytes_of(
      without_gil([&, name = path_of(path)] { return pipeline::list_files(name, std::move(extensions), function); }));
}

nb::tuple list_folder(const nb::bytes& path, const std::vector<std::string>& extensions) {
  const pipeline::Folder folder =
      without_gil([&, name = path_of(path)] { return pipeline::list_folder(name, extensions); });
  return nb::make_tuple(bytes_of(folder.paths), nb::cast(folder.labels), bytes_of(folder.classes));
}

Distribution to_distribution(nb::handle given) {
  if (!PyTuple_Check(given.ptr())) return {Distribution::Kind::constant, to_double(given, "a parameter")};
  const auto fields = nb::borrow<nb::tuple>(given);
  const auto kind = chosen<Distribution::Kind>(fields[0], "distribution",
                                               {{"uniform", Distribution::Kind::uniform},
                                                {"log_uniform", Distribution::Kind::log_uniform},
                                                {"normal", Distribution::Kind::normal},
                                                {"bernoulli", Distribution::Kind::bernoulli},
                                                {"integers", Distribution::Kind::integers},
                                                {"choice", Distribution::Kind::choice}});
  if (kind == Distribution::Kind::choice)
    return {kind, 0, 0, to_numbers(fields[1], "values"),
            fields[2].is_none() ? std::vector<double>{} : to_numbers(fields[2], "weights")};
  return {kind, to_double(fields[1], "a distribution's number"),
          fields.size() > 2 ? to_double(fields[2], "a distribution's number") : 0};
}

pipeline::Parameter to_parameter(nb::handle given) {
  if (PyTuple_Check(given.ptr()) && PyTuple_GET_SIZE(given.ptr()) == 2) {
    const auto fields = nb::borrow<nb::tuple>(given);
    if (to_text(fields[0], "distribution") == "input")
      return {.distribution = {}, .input = static_cast<int>(to_int64(fields[1], "input"))};
  }
  return {.distribution = to_distribution(given)};
}

OperationHandle stages(const nb::list& list, const nb::list& bindings, nb::handle layout) {
  std::vector<image::Stage> made;
  for (nb::handle stage : list) made.push_back(to_stage(nb::cast<nb::tuple>(stage)));
  std::vector<pipeline::Binding> bound;
  for (nb::handle each : bindings) {
    const auto fields = nb::cast<nb::tuple>(each);
    bound.push_back({.stage = static_cast<size_t>(to_int64(fields[0], "stage")),
                     .field = to_text(fields[1], "field"),
                     .element = static_cast<int>(to_int64(fields[2], "element")),
                     .parameter = to_parameter(fields[3])});
  }
  return pipeline::stages(std::move(made), std::move(bound), to_layout(layout));
}

OperationHandle random_resized_crop(nb::handle resize, const nb::tuple& area, const nb::tuple& ratio, int64_t attempts,
                                    nb::handle layout) {
  std::optional<image::Resize> resized;
  if (!resize.is_none()) resized = std::get<image::Resize>(to_stage(nb::cast<nb::tuple>(resize)));
  return pipeline::random_resized_crop({.resize = resized,
                                        .least_area = to_double(area[0], "area"),
                                        .most_area = to_double(area[1], "area"),
                                        .least_ratio = to_double(ratio[0], "ratio"),
                                        .most_ratio = to_double(ratio[1], "ratio"),
                                        .attempts = attempts},
                                       to_layout(layout));
}

OperationHandle one_of(const nb::list& choices, const std::vector<double>& probabilities) {
  std::vector<std::vector<OperationHandle>> made;
  for (nb::handle choice : choices) {
    made.emplace_back();
    for (nb::handle operation : choice) made.back().push_back(nb::cast<OperationHandle>(operation));
  }
  return pipeline::one_of(std::move(made), probabilities);
}

OperationHandle draw(nb::handle distribution, nb::handle shape, nb::handle seed) {
  return pipeline::draw(to_distribution(distribution),
                        shape.is_none() ? std::nullopt : std::optional(to_dims(shape, "shape")),
                        seed.is_none() ? std::nullopt : std::optional(nb::cast<uint64_t>(seed)));
}

OperationHandle function(const std::string& name, nb::handle given, int outputs) {
  auto call = [callback = Callback(given)](std::span<const Array> inputs, const pipeline::SampleKey& key,
                                           pipeline::Draws& draws) {
    return callback.call(
        [&] {
          nb::list arrays;
          for (const Array& input : inputs) arrays.append(to_python(input));
          return nb::make_tuple(arrays, nb::make_tuple(key.seed, key.epoch, key.index), nb::cast(draws));
        },
        [](nb::handle results) {
          std::vector<Array> arrays;
          for (nb::handle result : results) arrays.push_back(as_array(result, cpu()));
          return arrays;
        });
  };
  return pipeline::function(name, std::move(call), outputs);
}

pipeline::Options to_options(const nb::dict& given) {
  using pipeline::LastBatch;
  using pipeline::OnError;
  const auto integer = [&](const char* name) { return to_int64(given[name], name); };
  const auto is_set = [&](const char* name) { return nb::cast<bool>(nb::bool_(nb::handle(given[name]))); };
  pipeline::Options options;
  options.order = {.shuffle = is_set("shuffle"),
                   .seed = nb::cast<uint64_t>(given["seed"]),
                   .batch_size = integer("batch_size"),
                   .shard = integer("shard"),
                   .shards = integer("shards"),
                   .stick_to_shard = is_set("stick_to_shard"),
                   .pad_last_batch = is_set("pad_last_batch")};
  options.order.last_batch =
      chosen<LastBatch>(given["last_batch"], "last_batch",
                        {{"partial", LastBatch::partial}, {"drop", LastBatch::drop}, {"fill", LastBatch::fill}});
  options.device = given["device"].is_none() ? nullptr : &to_device(given["device"], "device");
  options.threads = static_cast<int>(std::clamp<int64_t>(integer("threads"), -1, 1 << 20));
  options.prefetch = static_cast<int>(std::clamp<int64_t>(integer("prefetch"), -1, 1 << 20));
  options.on_error =
      chosen<OnError>(given["on_error"], "on_error",
                      {{"raise", OnError::raise}, {"skip", OnError::skip}, {"replace", OnError::replace}});
  options.is_serial = is_set("serial");
  options.enter_thread = [] { return std::make_shared<PythonThread>(); };
  return options;
}

/// A pipeline whose threads may need the GIL while it ends.
struct PyPipeline {
  std::unique_ptr<pipeline::Pipeline> core;
  ~PyPipeline() {
    const GilReleaseIfHeld release;
    core.reset();
  }
};

nb::object next(PyPipeline& self) {
  std::optional<pipeline::Batch> batch = without_gil([&] { return self.core->next(); });
  if (!batch) return nb::none();
  nb::list outputs;
  for (pipeline::Batch::Output& output : batch->outputs) {
    if (output.dense.valid()) {
      outputs.append(to_python(std::move(output.dense)));
      continue;
    }
    nb::list arrays;
    for (Array& array : output.arrays) arrays.append(to_python(std::move(array)));
    outputs.append(arrays);
  }
  return nb::make_tuple(outputs, nb::cast(batch->indices), batch->padded, batch->epoch, batch->number);
}

nb::list failures(const PyPipeline& self) {
  nb::list list;
  for (const pipeline::Failure& failure : self.core->failures())
    list.append(nb::make_tuple(failure.epoch, failure.index, nb::str(failure.sample.c_str()),
                               nb::str(failure.stage.c_str()), nb::str(failure.message.c_str()),
                               exception_object(failure.error),
                               failure.replaced_by < 0 ? nb::object(nb::none()) : nb::cast(failure.replaced_by)));
  return list;
}

nb::dict profile(const PyPipeline& self) {
  const pipeline::Profile profile = self.core->profile();
  nb::list stages;
  for (const pipeline::StageTime& time : profile.stages)
    stages.append(nb::make_tuple(time.stage, time.calls, time.seconds));
  nb::dict result;
  result["samples"] = profile.samples;
  result["batches"] = profile.batches;
  result["stages"] = stages;
  result["waited"] = profile.waited;
  result["idle"] = profile.idle;
  return result;
}

nb::dict state(const PyPipeline& self) {
  const pipeline::State state = self.core->state();
  nb::dict result;
  result["seed"] = state.seed;
  result["epoch"] = state.epoch;
  result["batch"] = state.batch;
  return result;
}

void bind_operations(nb::module_& module) {
  nb::class_<pipeline::Draws>(module, "Draws")
      .def("__init__", [](pipeline::Draws* self, uint64_t seed, int64_t epoch, int64_t index,
                          uint32_t place) { new (self) pipeline::Draws({seed, epoch, index}, place); })
      .def("bits", &pipeline::Draws::bits)
      .def("uniform", &pipeline::Draws::uniform)
      .def("normal", &pipeline::Draws::normal)
      .def("below", [](pipeline::Draws& self, nb::handle count) {
        const int64_t most = to_int64(count, "count");
        if (most < 1) throw ValueError("below: the count is at least 1, not " + std::to_string(most));
        return self.below(most);
      });
  nb::class_<pipeline::Operation>(module, "Operation")
      .def_prop_ro("name", &pipeline::Operation::name)
      .def_prop_ro("outputs", &pipeline::Operation::outputs);
  module.def("decode", [](const nb::tuple& options) { return pipeline::decode(decode_options(options)); });
  module.def("stages", &stages, nb::arg("stages"), nb::arg("bindings"), nb::arg("layout") = "HWC");
  module.def(
      "crop_at",
      [](int64_t height, int64_t width, nb::handle y, nb::handle x, nb::handle layout, nb::handle rounding) {
        using pipeline::Rounding;
        const auto how =
            chosen<Rounding>(rounding, "rounding", {{"floor", Rounding::down}, {"round", Rounding::nearest}});
        return pipeline::crop_at(height, width, to_parameter(y), to_parameter(x), how, to_layout(layout));
      },
      nb::arg("height"), nb::arg("width"), nb::arg("y"), nb::arg("x"), nb::arg("layout") = "HWC",
      nb::arg("rounding") = "floor");
  module.def("random_resized_crop", &random_resized_crop, nb::arg("resize").none(), nb::arg("area"), nb::arg("ratio"),
             nb::arg("attempts") = 10, nb::arg("layout") = "HWC");
  module.def("one_of", &one_of);
  module.def("draw", &draw, nb::arg("distribution"), nb::arg("shape").none() = nb::none(),
             nb::arg("seed").none() = nb::none());
  module.def("constant", [](nb::handle value) { return pipeline::constant(as_array(value, cpu())); });
  module.def("function", &function, nb::arg("name"), nb::arg("function"), nb::arg("outputs") = 1);
  nb::class_<pipeline::Graph>(module, "Graph")
      .def(nb::init<int>())
      .def("add", &pipeline::Graph::add, nb::arg("operation"), nb::arg("inputs"), nb::arg("place") = nb::none())
      .def("set_outputs", &pipeline::Graph::set_outputs);
}

}  // namespace

void bind_pipeline(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_pipeline", "Samples, graphs and batches.");
  bind_operations(module);
  nb::class_<pipeline::Source>(module, "Source");
  module.def("files", &files, nb::arg("paths"), nb::arg("labels").none());
  module.def("list_files", &list_files);
  module.def("list_folder", &list_folder);
  module.def("python_source",
             [](int64_t size, int values, nb::handle sample, nb::handle describe) -> std::shared_ptr<pipeline::Source> {
               return std::make_shared<PythonSource>(size, values, sample, describe);
             });
  module.def("sequential_source",
             [](int values, nb::handle next, nb::handle begin) -> std::shared_ptr<pipeline::Source> {
               return std::make_shared<PythonSequence>(values, next, begin);
             });
  nb::class_<PyPipeline>(module, "Pipeline")
      .def("__init__",
           [](PyPipeline* self, const std::shared_ptr<pipeline::Source>& source, const pipeline::Graph& graph,
              const nb::dict& options) {
             new (self) PyPipeline{std::make_unique<pipeline::Pipeline>(source, graph, to_options(options))};
           })
      .def("next", &next)
      .def("sample",
           [](const PyPipeline& self, int64_t epoch, int64_t index) {
             nb::list list;
             for (Array& array : without_gil([&] { return self.core->sample(epoch, index); }))
               list.append(to_python(std::move(array)));
             return list;
           })
      .def("reset", [](PyPipeline& self) { without_gil([&] { self.core->reset(); }); })
      .def("state", &state)
      .def("restore", [](PyPipeline& self, uint64_t seed, int64_t epoch,
                         int64_t batch) { without_gil([&] { self.core->restore({seed, epoch, batch}); }); })
      .def("batches",
           [](const PyPipeline& self) {
             const std::optional<int64_t> batches = self.core->batches();
             return batches ? nb::cast(*batches) : nb::object(nb::none());
           })
      .def("samples", [](const PyPipeline& self) { return self.core->samples(); })
      .def("failures", &failures)
      .def("failure_count", [](const PyPipeline& self) { return self.core->failure_count(); })
      .def("profile", &profile)
      .def("stop", [](PyPipeline& self) { without_gil([&] { self.core->stop(); }); });
}

}  // namespace iruka::python
