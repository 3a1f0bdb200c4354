"""Pipelines in DALI's names on a GPU, over a driver in software, whose kernels compute nothing."""

from fake_driver import needs_fake_driver, run

pytestmark = needs_fake_driver


def test_outputs_are_where_dali_has_them():
    run("""
if not iruka.cuda.is_available(): raise SystemExit
from iruka import fn, ops, types, image
from iruka.pipeline import Pipeline, pipeline_def
from iruka.plugin.numpy import ClassificationIterator
file = np.frombuffer(image.imencode("png", iruka.zeros((30, 40, 3), "uint8", device="cpu")), np.uint8)

@pipeline_def(batch_size=4, num_threads=2, device_id=0, seed=1)
def graph():
    files, labels = fn.external_source(lambda k: ([file] * 4, np.int32([[k]] * 4)), num_outputs=2)
    pictures = fn.decoders.image(files, device="mixed")
    small = fn.resize(pictures, size=(8, 9))
    planes = fn.crop_mirror_normalize(small, mirror=fn.random.coin_flip())
    return small, planes, labels, planes.cpu(), labels.gpu()

pipe = graph()
for k in range(3):
    small, planes, labels, host, there = pipe.run()
    assert [each.as_tensor().device.name for each in (small, planes, labels, host, there)] == [
        "cuda:0", "cuda:0", "cpu", "cpu", "cuda:0"]
    assert (small.shape()[0], planes.shape()[0], labels.as_array().ravel().tolist()) == ((8, 9, 3), (3, 8, 9), [k] * 4)
    assert small.as_cpu().as_tensor().device.name == "cpu"

outputs = pipe._core().next()[0]  # made where they belong: labels are not copied back, what leaves the GPU is
assert [each.device.name for each in outputs] == ["cuda:0", "cuda:0", "cpu", "cuda:0", "cuda:0"]

@pipeline_def(batch_size=3, num_threads=2, device_id=0, seed=1)
def padded():
    rows = fn.external_source(lambda k: [np.full(n, n, np.float32) for n in (1, 3, 2)])
    return fn.pad(rows, fill_value=7).gpu(), fn.pad(rows.gpu()), rows

there, again, rows = padded().run()
assert [each.as_tensor().device.name for each in (there, again)] == ["cuda:0"] * 2 and rows[0].device.name == "cpu"
assert there.as_array().tolist() == [[1, 7, 7], [3, 3, 3], [2, 2, 7]] and again.as_array()[0].tolist() == [1, 0, 0]

class Article(Pipeline):
    def __init__(self):
        super().__init__(4, 2, 0, seed=12)
        self.input, self.input_label = ops.ExternalSource(), ops.ExternalSource()
        self.decode = ops.ImageDecoder(device="mixed", output_type=types.RGB)
        self.res = ops.Resize(device="gpu", resize_x=24, resize_y=20)
        self.cast = ops.Cast(device="gpu", dtype=types.UINT8)
    def define_graph(self):
        self.jpegs, self.labels = self.input(), self.input_label()
        return self.cast(self.res(self.decode(self.jpegs))), self.labels
    def iter_setup(self):
        self.feed_input(self.jpegs, [file] * 4)
        self.feed_input(self.labels, [np.uint8([7])] * 4)

for batch in ClassificationIterator(Article(), size=7, last_batch_padded=True, fill_last_batch=False):
    assert type(batch[0]["data"]) is np.ndarray and batch[0]["data"].shape[1:] == (20, 24, 3)
    assert set(batch[0]["label"].ravel()) == {7}
""")


BRANCHES = """
import numpy as np
from iruka import fn
from iruka.pipeline import pipeline_def

@pipeline_def(batch_size=4, num_threads=2, device_id=0, seed=1, enable_conditionals=True)
def graph(file):
    files, kind = fn.external_source(lambda k: ([file] * 4, np.int32([[0], [2], [3], [5]])), num_outputs=2)
    picture = fn.decoders.image(files, device="mixed")
    if kind > 1:
        picture = fn.flip(picture, horizontal=1)
        if kind == 3:
            return fn.crop(picture, crop=(5, 4))
        picture = fn.flip(picture, horizontal=0, vertical=1)
    return fn.crop(picture, crop=(6, 6))
"""


def test_branches_that_may_return(tmp_path):
    (tmp_path / "branches.py").write_text(BRANCHES)
    run(f"""
if not iruka.cuda.is_available(): raise SystemExit
import sys
sys.path.insert(0, {str(tmp_path)!r})
import branches
from iruka import image
file = np.frombuffer(image.imencode("png", iruka.zeros((30, 40, 3), "uint8", device="cpu")), np.uint8)
(made,) = branches.graph(file).run()
assert [each.shape for each in made] == [(6, 6, 3), (6, 6, 3), (5, 4, 3), (6, 6, 3)]
assert {{each.device.name for each in made}} == {{"cuda:0"}}
""")
