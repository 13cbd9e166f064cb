internal import RestorationLibc
internal import Synchronization

/// What an app does with values that no save stores.
struct ValueProblems: Sendable {
  /// The problems of values, and of fields.
  private(set) var all: [ReportNote] = []
  /// Those that no report has had.
  private var new: [ReportNote] = []
  /// The screens of which a field was set that no save has asked for.
  private var unreached: [ObjectIdentifier: Unreached] = [:]
  /// Whether the app has begun its restoration and not ended it; nil before the first.
  var isRunning: Bool?

  // Unchecked, since nobody but its actor uses the screen; here it is only asked whether it lives.
  private struct Unreached: @unchecked Sendable {
    weak var screen: (any StateRestoring)?
    let className: String
    let field: any AnyValueBox
  }

  /// Whether a problem is another one than all before; a value may give another reason each time.
  func isNew(_ problem: ReportNote) -> Bool {
    guard case .storageEncodingFailed(let key, _) = problem else { return !all.contains(problem) }
    return !all.contains { if case .storageEncodingFailed(key, _) = $0 { true } else { false } }
  }

  mutating func add(_ problem: ReportNote, isSaid: Bool) {
    all.append(problem)
    if !isSaid { new.append(problem) }
  }

  mutating func takeNew() -> [ReportNote] {
    defer { new = [] }
    return new
  }

  private static let mostUnreached = 64

  /// Notes a screen; false if it is known, or nothing is said of it.
  mutating func noteUnreached(_ screen: any StateRestoring, _ field: any AnyValueBox) -> Bool {
    guard isRunning == true, unreached.count < Self.mostUnreached else { return false }
    let new = Unreached(screen: screen, className: "\(type(of: screen))", field: field)
    return unreached.updateValue(new, forKey: ObjectIdentifier(screen)) == nil
  }

  /// The classes of the screens that no save has asked.
  mutating func takeUnreached() -> [String] {
    defer { unreached = [:] }
    return Set(
      unreached.values.filter { $0.screen != nil && !$0.field.isReached }.map(\.className)
    ).sorted()
  }
}

/// A value that is set in a process whose restoration never begins.
enum NeverBegun {
  /// The first value that was set.
  private static let firstUse = Mutex<String?>(nil)

  /// Notes that a value of the app was set; its name is said if nothing stores it.
  static func noteUse(of name: String) {
    guard Problems.isDebugBuild else { return }
    firstUse.withLock { $0 = $0 ?? name }
    _ = hasEnd
  }

  private static let hasEnd =
    atexit {
      guard RestorationSession.ofProcess.values.isRunning == nil,
        let name = firstUse.withLock(\.self)
      else { return }
      Problems.say([
        "The value “\(name)” was set, and Restoration.begin was never called, so nothing is stored."
          + " Call it at the start of the app."
      ])
    } == 0
}
