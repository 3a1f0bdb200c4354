// The preprocessing pipeline; iruka.pipeline gives its parts names and defaults.
#include "iruka/pipeline.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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
  explicit Callback(nb::handle function) : function_(nb::borrow(function).release().ptr()) {}
  ~Callback() {
    if (!function_ || !can_call_python()) return;
    const GilHold hold;
    clear();
  }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

  /// read(result), with the GIL, of what the function returns for the arguments that make() gives.
  template <class Make, class Read>
  auto call(Make make, Read read) const {
    if (!can_call_python()) throw Interrupted("the interpreter ends");
    const GilHold hold;
    try {
      const nb::object function = nb::borrow(function_);  // it may be collected meanwhile
      if (!function.is_valid()) throw Interrupted("pipeline: its function was collected");
      const nb::tuple arguments = make();
      const nb::object result = nb::steal(PyObject_CallObject(function.ptr(), arguments.ptr()));
      if (!result.is_valid()) nb::raise_python_error();
      return read(result);
    } catch (nb::python_error& error) {
      raise_for_all_threads(error);
    }
  }

  /// For the garbage collector, with the GIL.
  int visit(visitproc visit, void* arg) const {
    Py_VISIT(function_);
    return 0;
  }
  void clear() { Py_CLEAR(function_); }

 private:
  PyObject* function_;
};

/// What Python's garbage collector asks of a source or an operation that calls Python.
class Collected {
 public:
  virtual ~Collected() = default;
  virtual int visit(visitproc visit, void* arg) const = 0;
  virtual void clear() = 0;
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
  } catch (const Error&) {  // the value is none that a sample has
    return {.values = {}, .error = std::current_exception()};
  }
}

class PythonSource final : public pipeline::Source, public Collected {
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
  int visit(visitproc visit, void* arg) const override {
    const int stop = sample_.visit(visit, arg);
    return stop != 0 ? stop : describe_.visit(visit, arg);
  }
  void clear() override {
    sample_.clear();
    describe_.clear();
  }

 private:
  int64_t size_;
  int values_;
  Callback sample_, describe_;
};

class PythonSequence final : public pipeline::Source, public Collected {
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
  int visit(visitproc visit, void* arg) const override {
    const int stop = next_.visit(visit, arg);
    return stop != 0 ? stop : begin_.visit(visit, arg);
  }
  void clear() override {
    next_.clear();
    begin_.clear();
  }

 private:
  int values_;
  Callback next_, begin_;
};

/// As os.fsdecode() does, because it may be a file's name.
nb::object name_of(const std::string& text) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

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

std::optional<image::Layout> layout_if_given(nb::handle layout) {
  return layout.is_none() ? std::nullopt : std::optional(to_layout(layout));
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
  return pipeline::stages(std::move(made), std::move(bound), layout_if_given(layout));
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
                                       layout_if_given(layout));
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

class PythonFunction final : public pipeline::Operation, public Collected {
 public:
  PythonFunction(const std::string& name, nb::handle function, int outputs)
      : function_(function),
        operation_(pipeline::function(
            name,
            [this](std::span<const Array> inputs, const pipeline::SampleKey& key, pipeline::Draws& draws) {
              return call(inputs, key, draws);
            },
            outputs)) {}
  std::string name() const override { return operation_->name(); }
  int outputs() const override { return operation_->outputs(); }
  size_t inputs() const override { return operation_->inputs(); }
  bool calls_functions() const override { return true; }
  std::vector<Value> run(std::span<Value> inputs, const pipeline::SampleKey& key, uint32_t place) const override {
    return operation_->run(inputs, key, place);
  }
  int visit(visitproc visit, void* arg) const override { return function_.visit(visit, arg); }
  void clear() override { function_.clear(); }

 private:
  std::vector<Array> call(std::span<const Array> inputs, const pipeline::SampleKey& key, pipeline::Draws& draws) const {
    return function_.call(
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
  }

  Callback function_;
  OperationHandle operation_;
};

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
  for (nb::handle output : given["cpu_outputs"])
    options.cpu_outputs.push_back(static_cast<int>(to_int64(output, "cpu_outputs")));
  options.threads = static_cast<int>(std::clamp<int64_t>(integer("threads"), -1, 1 << 20));
  if (!given["prefetch"].is_none())
    options.prefetch = static_cast<int>(std::clamp<int64_t>(integer("prefetch"), -1, 1 << 20));
  options.on_error =
      chosen<OnError>(given["on_error"], "on_error",
                      {{"raise", OnError::raise}, {"skip", OnError::skip}, {"replace", OnError::replace}});
  options.is_serial = is_set("serial");
  options.gives_empty = is_set("gives_empty");
  options.enter_thread = [] { return std::make_shared<PythonThread>(); };
  return options;
}

/// A pipeline whose threads may need the GIL while it ends.
struct PyPipeline {
  std::unique_ptr<pipeline::Pipeline> owned;
  pipeline::Pipeline& core() const {
    if (!owned) throw ValueError("pipeline: it was closed");
    return *owned;
  }
  void end() {
    const GilReleaseIfHeld release;
    owned.reset();
  }
  ~PyPipeline() { end(); }
};

/// Visits the Python object of which a C++ handle holds a reference, unless other handles share this reference.
template <class T>
int visit_handle(const std::shared_ptr<T>& handle, visitproc visit, void* arg) {
  if (handle.use_count() != 1) return 0;
  const nb::object object = nb::find(*handle);
  Py_VISIT(object.ptr());
  return 0;
}

int visit_graph(const pipeline::Graph& graph, visitproc visit, void* arg) {
  for (const pipeline::Graph::Node& node : graph.nodes()) {
    if (const int stop = visit_handle(node.operation, visit, arg)) return stop;
  }
  return 0;
}

int visit_parts(const pipeline::Operation& operation, visitproc visit, void* arg) {
  for (const OperationHandle* part : operation.parts()) {
    if (const int stop = visit_handle(*part, visit, arg)) return stop;
  }
  const auto* const own = dynamic_cast<const Collected*>(&operation);
  return own ? own->visit(visit, arg) : 0;
}

int visit_source(const pipeline::Source& source, visitproc visit, void* arg) {
  const auto* const own = dynamic_cast<const Collected*>(&source);
  return own ? own->visit(visit, arg) : 0;
}

int visit_pipeline(const PyPipeline& self, visitproc visit, void* arg) {
  if (!self.owned) return 0;
  if (const int stop = visit_handle(self.owned->source(), visit, arg)) return stop;
  return visit_graph(self.owned->graph(), visit, arg);
}

template <class T>
int clear_functions(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  if (auto* const own = dynamic_cast<Collected*>(nb::inst_ptr<T>(self))) own->clear();
  return 0;
}

int clear_pipeline(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<PyPipeline>(self)->end();
  return 0;
}

template <class T, int (*visit_parts_of)(const T&, visitproc, void*)>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? visit_parts_of(*nb::inst_ptr<T>(self), visit, arg) : 0;
}

template <class Function>
PyType_Slot slot(int number, Function* function) {
  return {number, reinterpret_cast<void*>(function)};
}
PyType_Slot operation_slots[] = {slot(Py_tp_traverse, traverse<pipeline::Operation, visit_parts>),
                                 slot(Py_tp_clear, clear_functions<pipeline::Operation>),
                                 {0, nullptr}};
PyType_Slot source_slots[] = {slot(Py_tp_traverse, traverse<pipeline::Source, visit_source>),
                              slot(Py_tp_clear, clear_functions<pipeline::Source>),
                              {0, nullptr}};
PyType_Slot graph_slots[] = {slot(Py_tp_traverse, traverse<pipeline::Graph, visit_graph>), {0, nullptr}};
PyType_Slot pipeline_slots[] = {
    slot(Py_tp_traverse, traverse<PyPipeline, visit_pipeline>), slot(Py_tp_clear, clear_pipeline), {0, nullptr}};

nb::object next(PyPipeline& self) {
  std::optional<pipeline::Batch> batch = without_gil([&] { return self.core().next(); });
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
  for (const pipeline::Failure& failure : self.core().failures())
    list.append(nb::make_tuple(failure.epoch, failure.index, name_of(failure.sample), name_of(failure.stage),
                               name_of(failure.message),
                               failure.error ? exception_object(failure.error) : nb::object(nb::none()),
                               failure.replaced_by < 0 ? nb::object(nb::none()) : nb::cast(failure.replaced_by)));
  return list;
}

nb::dict profile(const PyPipeline& self) {
  const pipeline::Profile profile = self.core().profile();
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
  const pipeline::State state = self.core().state();
  nb::dict result;
  result["seed"] = state.seed;
  result["epoch"] = state.epoch;
  result["batch"] = state.batch;
  return result;
}

/// From (value, whether it must not be 0) for each.
std::vector<pipeline::Guard> to_guards(const nb::list& list) {
  std::vector<pipeline::Guard> guards;
  for (nb::handle each : list) {
    const auto fields = nb::cast<nb::tuple>(each);
    guards.push_back({nb::cast<int>(fields[0]), nb::cast<bool>(fields[1])});
  }
  return guards;
}

double drawn(pipeline::Draws& draws, const Distribution& distribution) {
  distribution.check("draws");
  return distribution.draw(draws);
}

void bind_operations(nb::module_& module) {
  nb::class_<pipeline::Draws>(module, "Draws")
      .def("__init__", [](pipeline::Draws* self, uint64_t seed, int64_t epoch, int64_t index,
                          uint32_t place) { new (self) pipeline::Draws({seed, epoch, index}, place); })
      .def("bits", &pipeline::Draws::bits)
      .def(
          "uniform",
          [](pipeline::Draws& self, nb::handle low, nb::handle high) {
            return drawn(self, {Distribution::Kind::uniform, to_double(low, "low"), to_double(high, "high")});
          },
          nb::arg("low") = 0.0, nb::arg("high") = 1.0)
      .def(
          "normal",
          [](pipeline::Draws& self, nb::handle mean, nb::handle deviation) {
            return drawn(self, {Distribution::Kind::normal, to_double(mean, "mean"), to_double(deviation, "std")});
          },
          nb::arg("mean") = 0.0, nb::arg("std") = 1.0)
      .def(
          "integers",
          [](pipeline::Draws& self, nb::handle low, nb::handle high) {
            const double number =
                drawn(self, {Distribution::Kind::integers, to_double(low, "low"), to_double(high, "high")});
            return static_cast<int64_t>(number);
          },
          nb::arg("low"), nb::arg("high"))
      .def("below", [](pipeline::Draws& self, nb::handle count) {
        const int64_t most = to_int64(count, "count");
        if (most < 1) throw ValueError("below: the count is at least 1, not " + std::to_string(most));
        return self.below(most);
      });
  nb::class_<pipeline::Operation>(module, "Operation", nb::type_slots(operation_slots))
      .def_prop_ro("name", &pipeline::Operation::name)
      .def_prop_ro("outputs", &pipeline::Operation::outputs);
  module.def("decode", [](const nb::tuple& options) { return pipeline::decode(decode_options(options)); });
  module.def("stages", &stages, nb::arg("stages"), nb::arg("bindings"), nb::arg("layout").none() = nb::none());
  module.def(
      "crop_at",
      [](int64_t height, int64_t width, nb::handle y, nb::handle x, nb::handle layout, nb::handle rounding) {
        using pipeline::Rounding;
        const auto how =
            chosen<Rounding>(rounding, "rounding", {{"floor", Rounding::down}, {"round", Rounding::nearest}});
        return pipeline::crop_at(height, width, to_parameter(y), to_parameter(x), how, layout_if_given(layout));
      },
      nb::arg("height"), nb::arg("width"), nb::arg("y"), nb::arg("x"), nb::arg("layout").none() = nb::none(),
      nb::arg("rounding") = "floor");
  module.def("random_resized_crop", &random_resized_crop, nb::arg("resize").none(), nb::arg("area"), nb::arg("ratio"),
             nb::arg("attempts") = 10, nb::arg("layout").none() = nb::none());
  module.def("one_of", &one_of);
  module.def("draw", &draw, nb::arg("distribution"), nb::arg("shape").none() = nb::none(),
             nb::arg("seed").none() = nb::none());
  module.def("constant", [](nb::handle value) { return pipeline::constant(as_array(value, cpu())); });
  module.def(
      "function",
      [](const std::string& name, nb::handle function, int outputs) -> OperationHandle {
        return std::make_shared<PythonFunction>(name, function, outputs);
      },
      nb::arg("name"), nb::arg("function"), nb::arg("outputs") = 1);
  nb::class_<pipeline::Graph>(module, "Graph", nb::type_slots(graph_slots))
      .def(nb::init<int>())
      .def(
          "add",
          [](pipeline::Graph& self, const OperationHandle& operation, const std::vector<int>& inputs,
             std::optional<uint32_t> place,
             const nb::list& guards) { return self.add(operation, inputs, place, to_guards(guards)); },
          nb::arg("operation"), nb::arg("inputs"), nb::arg("place") = nb::none(), nb::arg("guards") = nb::list())
      .def(
          "select",
          [](pipeline::Graph& self, int condition, int if_true, int if_false, const nb::list& guards) {
            return self.select(condition, if_true, if_false, to_guards(guards));
          },
          nb::arg("condition"), nb::arg("if_true"), nb::arg("if_false"), nb::arg("guards") = nb::list())
      .def("set_outputs", &pipeline::Graph::set_outputs);
}

}  // namespace

void bind_pipeline(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_pipeline", "Samples, graphs and batches.");
  bind_operations(module);
  const nb::class_<pipeline::Source> source(module, "Source", nb::type_slots(source_slots));
  module.def("files", &files, nb::arg("paths"), nb::arg("labels").none());
  module.def("arrays", [](const nb::list& list) {
    std::vector<Array> arrays;
    for (nb::handle array : list) arrays.push_back(as_array(array, cpu()));
    return pipeline::arrays(std::move(arrays));
  });
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
  nb::class_<PyPipeline>(module, "Pipeline", nb::type_slots(pipeline_slots))
      .def("__init__",
           [](PyPipeline* self, const std::shared_ptr<pipeline::Source>& source, const pipeline::Graph& graph,
              const nb::dict& options) {
             new (self) PyPipeline{std::make_unique<pipeline::Pipeline>(source, graph, to_options(options))};
           })
      .def("next", &next)
      .def("sample",
           [](const PyPipeline& self, int64_t epoch, int64_t index) {
             nb::list list;
             for (Array& array : without_gil([&] { return self.core().sample(epoch, index); }))
               list.append(to_python(std::move(array)));
             return list;
           })
      .def("reset", [](PyPipeline& self) { without_gil([&] { self.core().reset(); }); })
      .def("state", &state)
      .def("restore", [](PyPipeline& self, uint64_t seed, int64_t epoch,
                         int64_t batch) { without_gil([&] { self.core().restore({seed, epoch, batch}); }); })
      .def("batches",
           [](const PyPipeline& self) {
             const std::optional<int64_t> batches = self.core().batches();
             return batches ? nb::cast(*batches) : nb::object(nb::none());
           })
      .def("samples", [](const PyPipeline& self) { return self.core().samples(); })
      .def("failures", &failures)
      .def("failure_count", [](const PyPipeline& self) { return self.core().failure_count(); })
      .def("profile", &profile)
      .def("stop", [](PyPipeline& self) { without_gil([&] { self.core().stop(); }); });
}

}  // namespace iruka::python
