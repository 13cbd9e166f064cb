/// When a process of an app is killed with SIGKILL.
///
/// The process kills itself, so the kill comes at exactly this moment. As after any
/// other SIGKILL, nothing in the process runs any more.
public enum KillMoment: Hashable, Sendable {
  /// When this many saves were acknowledged with ``AppUnderTest/acknowledgeSave(_:)``.
  case afterSave(Int)

  /// In the midst of the write with this number, when half of its bytes are there; the
  /// first write is 1.
  ///
  /// A write replaces a state as a whole or appends changes, in the
  /// ``AppUnderTest/directory`` of the app.
  case inWrite(Int)
}

extension KillMoment {
  /// The moment in the environment of the process.
  var text: String {
    switch self {
    case .afterSave(let number): "save \(number)"
    case .inWrite(let number): "write \(number)"
    }
  }

  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, let number = Int(words[1]) else { return nil }
    switch words[0] {
    case "save": self = .afterSave(number)
    case "write": self = .inWrite(number)
    default: return nil
    }
  }
}

/// The names that the test and the process agree on.
enum AppVariable {
  static let folder = "RESTORATION_TESTING_FOLDER"
  static let moment = "RESTORATION_TESTING_MOMENT"
  /// The prefix of each answer, which tells it from the output of a test library.
  static let answerPrefix = "app under test: "
}
