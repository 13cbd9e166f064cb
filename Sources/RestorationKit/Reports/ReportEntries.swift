internal import Synchronization

/// The entries of a report, made when somebody asks for them.
///
/// Most reports are not looked at, and the paths of all nodes take a tenth of a save
/// (benchmark: save nodes).
struct ReportEntries<Outcome: ReportOutcome>: Sendable {
  private let source: MadeLater<[ReportEntry<Outcome>]>

  init(_ make: @escaping () -> [ReportEntry<Outcome>]) {
    source = MadeLater(make)
  }

  var made: [ReportEntry<Outcome>] { source.value }

  /// The entries, with notes on what they are all about: the application or a scene, whose
  /// entry comes first.
  func adding(
    _ notes: [ReportNote], on kind: ElementKind, _ outcome: Outcome
  ) -> ReportEntries {
    guard !notes.isEmpty else { return self }
    return ReportEntries { [self] in
      var entries = made
      if let place = entries.firstIndex(where: { $0.kind == kind && $0.path.count == 0 }) {
        entries[place].notes += notes
      } else {
        entries.insert(.ofAll(kind, outcome, notes), at: 0)
      }
      return entries
    }
  }
}

/// The sizes in a report, made when somebody asks for them.
struct ReportSizes: Sendable {
  private let source: MadeLater<StateSizes>

  init(_ make: @escaping () -> StateSizes) {
    source = MadeLater(make)
  }

  var made: StateSizes { source.value }
}

/// A part of a report that is made once.
//
// Sendable although the closure may hold what is not: nobody changes that any
// more, and the lock lets one caller at a time make something of it, once.
private final class MadeLater<Value: Sendable>: @unchecked Sendable {
  private enum Content {
    case later(() -> Value)
    case made(Value)
  }

  private let lock = Mutex<Void>(())
  private var content: Content

  init(_ make: @escaping () -> Value) {
    content = .later(make)
  }

  var value: Value {
    lock.withLock { _ in
      switch content {
      case .made(let value): return value
      case .later(let make):
        let value = make()
        content = .made(value)
        return value
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

extension ReportSizes: Hashable {
  static func == (left: ReportSizes, right: ReportSizes) -> Bool { left.made == right.made }

  func hash(into hasher: inout Hasher) { hasher.combine(made) }
}

extension ReportSizes: Codable {
  init(from decoder: any Decoder) throws {
    let sizes = try StateSizes(from: decoder)
    self.init { sizes }
  }

  func encode(to encoder: any Encoder) throws { try made.encode(to: encoder) }
}
