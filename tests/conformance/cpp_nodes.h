// Makes emitted nodes out of PyTorch's own, for Python: each with the same edges, and with copies of all that it keeps.
#pragma once

#include <Python.h>

#include "Functions.h"

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/generated/Functions.h>
#include <torch/csrc/autograd/python_cpp_function.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace ours = gradspec::generated;
namespace theirs = torch::autograd::generated;

using torch::autograd::SavedVariable;
using Owner = c10::intrusive_ptr<torch::autograd::Node>;
using Makers = std::unordered_map<std::string, PyObject* (*)(const Owner& theirs)>;

// What one node keeps, into another one.
struct Copy {
  template <class T>
  void operator()(T& made, const T& value) const {
    made = value;
  }
  void operator()(SavedVariable& made, const SavedVariable& value) const {
    made = SavedVariable(value.unpack(owner), false);
  }
  void operator()(std::vector<SavedVariable>& made, const std::vector<SavedVariable>& values) const {
    for (const SavedVariable& value : values) {
      made.emplace_back(value.unpack(owner), false);
    }
  }

  const Owner& owner;
};

// The Python object of our node, with the edges and as many outputs as theirs has.
inline PyObject* finished(const Owner& made, const Owner& theirs) {
  auto edges = theirs->next_edges();
  made->set_next_edges(std::move(edges));
  for (uint32_t i = 0; i < theirs->num_inputs(); ++i) {
    made->add_input_metadata(torch::autograd::Node::undefined_input());
  }
  return torch::autograd::functionToPyObject(made);
}

inline PyObject* make_from(const Makers& makers, PyObject* node) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(torch::autograd::THPCppFunction_Check(node), "not a node of C++");
  const Owner& owner = reinterpret_cast<torch::autograd::THPCppFunction*>(node)->cdata;
  auto found = makers.find(owner->name());
  TORCH_CHECK_VALUE(found != makers.end(), "no node was emitted for ", owner->name());
  return found->second(owner);
  END_HANDLE_TH_ERRORS
}

#define GRADSPEC_MODULE(name, makers)                                                             \
  static PyObject* make(PyObject*, PyObject* node) {                                              \
    return make_from(makers, node);                                                               \
  }                                                                                               \
  static PyMethodDef methods[] = {{"make", make, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}}; \
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, #name, nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr}; \
  PyMODINIT_FUNC PyInit_##name() {                                                                \
    return PyModule_Create(&definition);                                                          \
  }
