import ArchiveCodec
import ArgumentParser
import RestorationKit

struct Verify: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Checks every byte of a state, and that every record has its place.",
    discussion: "It says what is wrong and where, or that all is well.")

  @OptionGroup var place: PlaceOptions
  @OptionGroup var keys: KeyOptions

  @Flag(help: "Write JSON.")
  var json = false

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try place.place()
    let state = try place.open(keys.credential(for: place))
    let outline = try state.outlineWithProgress()
    let status = StateHead.status(state, outline)
    if json {
      let writer = JSONWriter(output)
      try writer.object {
        try StateHead(place: place, state: state).write(writer)
        try writer.field("isIntact", status == .done)
        try writer.field("elements", outline.count)
        try StateHead.writeProblems(outline, writer)
      }
      try output.line()
      return status
    }
    if status == .done {
      let extent = state.archive.extent
      try output.line(
        output.style.good("intact")
          + "\t\(outline.count.of("element")), \(extent.byteCount.of("byte")),"
          + " generation \(state.archive.version.generation), \(extent.changeCount.of("change"))")
    }
    try StateHead.writeProblems(state, outline, output)
    return status
  }
}
