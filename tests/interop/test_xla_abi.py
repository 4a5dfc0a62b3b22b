"""What core/bindings/xla_abi.hpp declares of XLA's binary interface is what the installed jaxlib's own header says."""

import shutil
import subprocess
from pathlib import Path

import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (pip install 'symplectree[jax]')")
CORE = Path(__file__).parents[2] / "core"
COMPILER = shutil.which("c++") or shutil.which("g++")
FIELDS = {
    "Extension XLA_FFI_Extension_Base": "struct_size type next",
    "Version XLA_FFI_Api_Version": "struct_size extensions:extension_start major:major_version minor:minor_version",
    "ErrorArguments XLA_FFI_Error_Create_Args": "struct_size extensions:extension_start message code:errc",
    "Api XLA_FFI_Api": "struct_size version:api_version internal:internal_api create_error:XLA_FFI_Error_Create",
    "Buffer XLA_FFI_Buffer": "struct_size extensions:extension_start type:dtype data rank shape:dims",
    "Text XLA_FFI_ByteSpan": "start:ptr length:len",
    "Scalar XLA_FFI_Scalar": "type:dtype value",
    "Buffers XLA_FFI_Args": "struct_size extensions:extension_start count:size types items:args",
    "Buffers XLA_FFI_Rets": "struct_size extensions:extension_start count:size types items:rets",
    "Attributes XLA_FFI_Attrs": "struct_size extensions:extension_start count:size types names items:attrs",
    "Call XLA_FFI_CallFrame": "struct_size extensions:extension_start api context:ctx stage arguments:args results:rets "
    "attributes:attrs",
    "Metadata XLA_FFI_Metadata": "struct_size version:api_version traits",
    "MetadataExtension XLA_FFI_Metadata_Extension": "base:extension_base metadata",
}
NUMBERS = {
    "kMajor": "XLA_FFI_API_MAJOR",
    "kMetadataExtension": "XLA_FFI_Extension_Metadata",
    "kS64": "XLA_FFI_DataType_S64",
    "kF64": "XLA_FFI_DataType_F64",
    "kBuffer": "XLA_FFI_ArgType_BUFFER",
    "kBuffer ": "XLA_FFI_RetType_BUFFER",
    "kScalar": "XLA_FFI_AttrType_SCALAR",
    "kExecute": "XLA_FFI_ExecutionStage_EXECUTE",
    "kInvalidArgument": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
    "kFailedPrecondition": "XLA_FFI_Error_Code_FAILED_PRECONDITION",
    "kInternal": "XLA_FFI_Error_Code_INTERNAL",
}

ANSWERS = """
#include <cstdio>
#include "bindings/xla_abi.hpp"
using namespace symplectree::xla;
int main() {
  for (int minor : {-1, 1, 2, 9}) {  // of the runtime; the first does not tell
    Metadata metadata{};
    MetadataExtension extension{{sizeof(MetadataExtension), kMetadataExtension, nullptr}, &metadata};
    Api api{};
    api.version.minor = minor;
    Call call{};
    if (answer_metadata(call)) return 1;  // not asked
    call.extensions = &extension.base;
    call.api = minor < 0 ? nullptr : &api;
    if (!answer_metadata(call)) return 1;
    std::printf("%d.%d ", metadata.version.major, metadata.version.minor);
  }
}
"""


def program(fields=FIELDS, numbers=NUMBERS):
    lines = ['#include "xla/ffi/api/c_api.h"', '#include "bindings/xla_abi.hpp"', "using namespace symplectree::xla;"]
    for structs, names in fields.items():
        ours, theirs = structs.split()
        for pair in names.split():
            a, _, b = pair.partition(":")
            b = b or a
            lines.append(f"static_assert(offsetof({ours}, {a}) == offsetof({theirs}, {b}));")
            lines.append(f"static_assert(sizeof({ours}::{a}) == sizeof({theirs}::{b}));")
    lines += [f"static_assert(int({ours}) == int({theirs}));" for ours, theirs in numbers.items()]
    # what XLA takes for the size of a struct
    lines.append("static_assert(sizeof(Call) == XLA_FFI_CallFrame_STRUCT_SIZE);")
    lines.append("static_assert(sizeof(ErrorArguments) >= XLA_FFI_Error_Create_Args_STRUCT_SIZE);")
    return "\n".join([*lines, ""])


def compiles(text, folder):
    source = folder / "abi.cpp"
    source.write_text(text)
    command = [COMPILER, "-std=c++20", "-fsyntax-only", f"-I{CORE}", f"-I{jax.ffi.include_dir()}", source]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler is installed")
def test_declarations_are_those_of_the_installed_header(tmp_path):
    done = compiles(program(), tmp_path)
    assert done.returncode == 0, done.stderr[:2000]
    wrong = {"Buffer XLA_FFI_Buffer": "data:rank"}  # the comparison finds what differs
    assert compiles(program(wrong), tmp_path).returncode != 0


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler is installed")
def test_a_handler_says_a_version_that_the_runtime_takes(tmp_path):
    source = tmp_path / "answers.cpp"
    source.write_text(ANSWERS)
    subprocess.run([COMPILER, "-std=c++20", f"-I{CORE}", source, "-o", tmp_path / "answers"], check=True)
    said = subprocess.run([tmp_path / "answers"], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["0.1", "0.1", "0.2", "0.3"]
