internal import Synchronization

/// The entries of a report, made when somebody asks for them.
///
/// Most reports are not looked at, and the paths of all nodes take a tenth of a save
/// (benchmark: save nodes).
struct ReportEntries<Outcome: ReportOutcome>: Sendable {
  private let source: Source

  init(_ make: @escaping () -> [ReportEntry<Outcome>]) {
    source = Source(make)
  }

  var made: [ReportEntry<Outcome>] { source.made() }

  // Sendable although the closure may hold what is not: nobody changes that any
  // more, and the lock lets one caller at a time make entries of it, once.
  private final class Source: @unchecked Sendable {
    private let lock = Mutex<Void>(())
    private var make: (() -> [ReportEntry<Outcome>])?
    private var entries: [ReportEntry<Outcome>] = []

    init(_ make: @escaping () -> [ReportEntry<Outcome>]) {
      self.make = make
    }

    func made() -> [ReportEntry<Outcome>] {
      lock.withLock { _ in
        if let make {
          entries = make()
          self.make = nil
        }
        return entries
      }
    }
  }
}

extension ReportEntries: Hashable {
  static func == (left: ReportEntries, right: ReportEntries) -> Bool { left.made == right.made }

  func hash(into hasher: inout Hasher) { hasher.combine(made) }
}

extension ReportEntries: Codable {
  init(from decoder: any Decoder) throws {
    let entries = try [ReportEntry<Outcome>](from: decoder)
    self.init { entries }
  }

  func encode(to encoder: any Encoder) throws { try made.encode(to: encoder) }
}
