# beryl_embed(<room> <name> <file> [<name> <file>...])
#
# Puts the bytes of each file into beryl_<room>. Code of the room reads them with
#   #include "<room>/embedded.h"  ->  beryl::embedded::<name>, a std::string_view
# The bytes are followed by a NUL that is not part of the view. Does nothing as long as the room or
# one of the files does not exist. One call per room.
#
# The assembler copies the file (.incbin), so the size of the file costs no compile time.
function(beryl_embed room)
  set(declarations "")
  set(definitions "")
  set(files "")
  while(ARGN)
    list(POP_FRONT ARGN name file)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    file(GLOB exists CONFIGURE_DEPENDS "${file}")
    if(NOT TARGET beryl_${room} OR NOT exists)
      return()
    endif()
    list(APPEND files "${file}")
    # ccache knows a source by its text: what it embeds has to show there.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(SHA256 "${file}" sum)
    set(symbol beryl_embedded_${name})
    string(APPEND declarations "extern const std::string_view ${name};\n")
    string(APPEND definitions "
// ${sum}
asm(R\"(
  .pushsection .rodata
  .balign 16
${symbol}: .incbin \"${file}\"
${symbol}_end: .byte 0
  .balign 8
${symbol}_size: .quad ${symbol}_end - ${symbol}
  .popsection
)\");
extern \"C\" const char ${symbol}[];
extern \"C\" const std::uint64_t ${symbol}_size;
const std::string_view beryl::embedded::${name}(${symbol}, ${symbol}_size);
")
  endwhile()

  set(stem "${PROJECT_BINARY_DIR}/generated/${room}/embedded")
  file(CONFIGURE OUTPUT "${stem}.h" @ONLY CONTENT "#pragma once

#include <string_view>

namespace beryl::embedded {

@declarations@
}  // namespace beryl::embedded
")
  file(CONFIGURE OUTPUT "${stem}.cc" @ONLY CONTENT "#include \"${room}/embedded.h\"

#include <cstdint>
@definitions@")
  target_sources(beryl_${room} PRIVATE "${stem}.cc")
  set_source_files_properties("${stem}.cc" PROPERTIES OBJECT_DEPENDS "${files}")
endfunction()
