import ArchiveCodec
import ArgumentParser
import RestorationKit

/// Says how the output is written.
struct FormatOptions: ParsableArguments {
  @Flag(help: "Write one JSON value.")
  var json = false
}

/// Says how columns are written.
struct TableOptions: ParsableArguments {
  @Flag(help: "Leave out the line with the names of the columns.")
  var noHeader = false
}

/// What all take that look into one state.
struct StateOptions: ParsableArguments {
  @OptionGroup var place: PlaceOptions
  @OptionGroup var keys: KeyOptions
  @OptionGroup var format: FormatOptions

  var json: Bool { format.json }

  /// Where the state is; throws if nothing is stored there, before anybody asks for its key.
  func storedPlace() throws -> StatePlace {
    let place = try place.place()
    try place.requireStored()
    return place
  }

  /// Opens the state, and reads its elements.
  func read() throws -> StateReading {
    let place = try storedPlace()
    return try StateReading(of: place.open(keys.credential(for: place)), at: place)
  }
}
