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

  /// The entries, with notes on the application or a scene, whose entry comes first.
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

/// A part of a report that is made once.
//
// Sendable although the closure may hold values that are not: nobody changes those
// values any more, and under the lock one caller at a time calls the closure, once.
private final class MadeLater<Value: Sendable>: @unchecked Sendable {
  private enum Stage {
    case later(() -> Value)
    case made(Value)
  }

  private let lock = Mutex<Void>(())
  private var stage: Stage

  init(_ make: @escaping () -> Value) {
    stage = .later(make)
  }

  var value: Value {
    lock.withLock { _ in
      switch stage {
      case .made(let value): return value
      case .later(let make):
        let value = make()
        stage = .made(value)
        return value
      }
    }
  }
}

extension ReportEntries: Hashable {
  static func == (left: ReportEntries, right: ReportEntries) -> Bool { left.made == right.made }

  func hash(into hasher: inout Hasher) { hasher.combine(made) }
}
