/// What is fuzzed: each target takes any bytes and must neither trap nor find
/// that the codec breaks a promise.
package enum FuzzTarget: String, CaseIterable {
  case open, content, values, codable, journal

  /// Runs one input.
  package func run(_ input: [UInt8]) throws(Finding) {
    switch self {
    case .open: try OpenTarget.run(input)
    case .content: try ContentTarget.run(input)
    case .values: try ValuesTarget.run(input)
    case .codable: try CodableTarget.run(input)
    case .journal: try JournalTarget.run(input)
    }
  }

  /// Inputs to start from, made from real archives.
  package var seeds: [[UInt8]] {
    get throws {
      switch self {
      case .open: try FuzzArchive.all.map(\.bytes)
      case .content: ContentTarget.seeds
      case .values: try ValuesTarget.seeds
      case .codable: try CodableTarget.seeds
      case .journal: JournalTarget.seeds
      }
    }
  }
}

/// A promise that the codec broke.
package struct Finding: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

func promise(_ condition: Bool, _ broken: @autoclosure () -> String) throws(Finding) {
  guard condition else { throw Finding(broken()) }
}
