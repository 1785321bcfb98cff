// Makes nodes and sets what they keep, so that tests can read it through whatever Python classes a backend gives them.
#pragma once

#include "Functions.h"

#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/utils/pybind.h>

#include <pybind11/complex.h>

#include <functional>
#include <map>
#include <string>

namespace contract {

using torch::autograd::Node;
using torch::autograd::SavedVariable;

template <class T>
void set(T& member, py::handle value) {
  member = py::cast<T>(value);
}
inline void set(at::Scalar& member, py::handle value) {
  if (PyBool_Check(value.ptr())) {
    member = py::cast<bool>(value);
  } else if (PyComplex_Check(value.ptr())) {
    member = c10::complex<double>(py::cast<std::complex<double>>(value));
  } else if (PyFloat_Check(value.ptr())) {
    member = py::cast<double>(value);
  } else if (py::hasattr(value, "node")) {
    member = py::cast<c10::SymInt>(value);
  } else if (value > py::int_(0)) {
    auto number = py::cast<uint64_t>(value);
    member = number > INT64_MAX ? at::Scalar(number) : at::Scalar(static_cast<int64_t>(number));
  } else {
    member = py::cast<int64_t>(value);
  }
}
inline void set(std::optional<at::Scalar>& member, py::handle value) {
  member.reset();
  if (!value.is_none()) {
    set(member.emplace(), value);
  }
}
inline void set(std::vector<at::Scalar>& member, py::handle value) {
  member.clear();
  for (py::handle item : value) {
    set(member.emplace_back(), item);
  }
}
template <class T>
void set(c10::OptionalArray<T>& member, py::handle value) {
  member.list = py::cast<std::optional<std::vector<T>>>(value);
}
inline void set(at::ScalarType& member, py::handle value) {
  member = reinterpret_cast<THPDtype*>(value.ptr())->scalar_type;
}
inline void set(at::Layout& member, py::handle value) {
  member = reinterpret_cast<THPLayout*>(value.ptr())->layout;
}
inline void set(std::vector<at::ScalarType>& member, py::handle value) {
  member.clear();
  for (py::handle item : value) {
    set(member.emplace_back(), item);
  }
}
inline void set(at::TensorOptions& member, py::handle value) {
  member = py::cast<at::Tensor>(value).options();
}
inline void set(torch::autograd::TypeAndSize& member, py::handle value) {
  member = torch::autograd::TypeAndSize(py::cast<at::Tensor>(value));
}
inline void set(at::TensorGeometry& member, py::handle value) {
  member = at::TensorGeometry(py::cast<at::Tensor>(value));
}
inline void set(SavedVariable& member, py::handle value) {
  member = SavedVariable(value.is_none() ? at::Tensor() : py::cast<at::Tensor>(value), false);
}
inline void set(std::vector<SavedVariable>& member, py::handle value) {
  member.clear();
  for (py::handle item : value) {
    set(member.emplace_back(), item);
  }
}

// Saves a copy of a tensor as the output of a node, and gives it.
template <class T>
at::Tensor set_output(T&, const at::Tensor&, const c10::intrusive_ptr<Node>&) {
  TORCH_CHECK(false, "no tensor");
}
inline at::Tensor set_output(SavedVariable& member, const at::Tensor& value, const c10::intrusive_ptr<Node>& node) {
  at::Tensor output = value.clone();
  torch::autograd::set_history(output, node);
  member = SavedVariable(output, true);
  return output;
}

struct Field {
  std::function<void(Node&, py::handle)> set;
  std::function<at::Tensor(const c10::intrusive_ptr<Node>&, const at::Tensor&)> set_output;
};

struct Kind {
  c10::intrusive_ptr<Node> (*make)();
  std::map<std::string, Field> fields;
};

template <class T>
Field field_of(T Node::*member) {
  return {
      [member](Node& node, py::handle value) { set(node.*member, value); },
      [member](const c10::intrusive_ptr<Node>& node, const at::Tensor& value) {
        return set_output((*node).*member, value, node);
      }};
}

// By the type of the member alone, so that little is compiled.
template <class Class, class T>
Field field(T Class::*member) {
  return field_of(static_cast<T Node::*>(member));
}

template <class Class>
c10::intrusive_ptr<Node> make() {
  return c10::make_intrusive<Class>();
}

inline const c10::intrusive_ptr<Node>& node_of(py::handle object) {
  return reinterpret_cast<torch::autograd::THPCppFunction*>(object.ptr())->cdata;
}

// What a module offers besides the classes.
inline void define(py::module_& module, const std::map<std::string, Kind>& kinds) {
  module.def("make", [&kinds](const std::string& name) {
    return py::reinterpret_steal<py::object>(torch::autograd::functionToPyObject(kinds.at(name).make()));
  });
  module.def("put", [&kinds](py::handle node, const std::string& name, py::handle value) {
    kinds.at(node_of(node)->name()).fields.at(name).set(*node_of(node), value);
  });
  module.def("put_output", [&kinds](py::handle node, const std::string& name, const at::Tensor& value) {
    return kinds.at(node_of(node)->name()).fields.at(name).set_output(node_of(node), value);
  });
  module.def("release", [](py::handle node) { node_of(node)->release_variables(); });
}

} // namespace contract
