import ArchiveCodec
import ArgumentParser
import RestorationKit

struct Verify: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Checks every byte of a state, and that every record has its place.",
    discussion: "It says what is wrong and where, or that all is well.")

  @OptionGroup var options: StateOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let reading = try options.read()
    let isIntact = reading.status == .done
    if options.json {
      try output.json { json in
        try json.object {
          try reading.head.write(json)
          try json.field("isIntact", isIntact)
          try json.field("elements", reading.outline.count)
          try reading.writeProblems(json)
        }
      }
      return reading.status
    }
    if isIntact {
      let archive = reading.state.archive
      try output.line(
        output.style.good("intact")
          + "\t\(reading.outline.count.of("element")), \(archive.extent.byteCount.of("byte")),"
          + " generation \(archive.version.generation),"
          + " \(archive.extent.changeCount.of("change"))")
    }
    try reading.writeProblems(output)
    return reading.status
  }
}
