internal import Synchronization

/// The entries of a report, made once when somebody asks for them.
///
/// Most reports are not looked at, and the paths of all nodes take a tenth of a save
/// (benchmark: save nodes).
//
// Sendable although the closure may hold values that are not: nobody changes those
// values any more, and under the lock one caller at a time calls the closure, once.
final class ReportEntries<Outcome: ReportOutcome>: @unchecked Sendable {
  private enum Stage {
    case later(() -> [ReportEntry<Outcome>])
    case made([ReportEntry<Outcome>])
  }

  private let lock = Mutex<Void>(())
  private var stage: Stage

  init(_ make: @escaping () -> [ReportEntry<Outcome>]) {
    stage = .later(make)
  }

  var made: [ReportEntry<Outcome>] {
    lock.withLock { _ in
      switch stage {
      case .made(let entries): return entries
      case .later(let make):
        let entries = make()
        stage = .made(entries)
        return entries
      }
    }
  }

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

extension ReportEntries: Hashable {
  static func == (left: ReportEntries, right: ReportEntries) -> Bool { left.made == right.made }

  func hash(into hasher: inout Hasher) { hasher.combine(made) }
}
