internal import Observation

/// The values of one scene's ``SceneStorage``, by key.
final class SceneValues: Observable {
  /// A value that was read or set in this launch.
  private struct Used {
    let value: any Codable & Sendable
    let type: Any.Type
    /// Whether it was set; what was only read stays stored as it is.
    let isSet: Bool
  }

  private var stored: [String: StoredValue] = [:]
  private var used: [String: Used] = [:]
  private let registrar = ObservationRegistrar()
  private(set) var problems: [ReportNote] = []
  var changed: (() -> Void)?

  /// Takes what is stored; what was set already stays.
  func take(_ stored: [String: StoredValue]) {
    let old = self.stored
    let changed = Set(old.keys).union(stored.keys).filter {
      old[$0] != stored[$0] && used[$0] == nil
    }
    for key in changed { registrar.willSet(self, keyPath: \.[key]) }
    self.stored = stored
    for key in changed { registrar.didSet(self, keyPath: \.[key]) }
  }

  /// For observation only: who reads one key is told of that one alone.
  private subscript(key: String) -> Never? { nil }

  /// The value of a key, nil if there is none or it has another type.
  func value<Value: Codable & Sendable>(_ type: Value.Type, forKey key: String) -> Value? {
    registrar.access(self, keyPath: \.[key])
    if let known = used[key] {
      if let value = known.value as? Value { return value }
      note(.storageTypeMismatch(key: key, "\(known.type) is stored, \(type) was asked for"))
      return nil
    }
    guard let value = stored[key] else { return nil }
    do {
      let decoded = try value.decode(type)
      used[key] = Used(value: decoded, type: type, isSet: false)
      return decoded
    } catch {
      note(.storageTypeMismatch(key: key, error.reason))
      return nil
    }
  }

  /// Sets a value; its readers are told unless they had an equal one.
  ///
  /// It is stored in any case: equal values may differ in what is stored of them.
  func set<Value: Codable & Sendable>(_ value: Value, forKey key: String) {
    let use = Used(value: value, type: Value.self, isSet: true)
    if (used[key]?.value as? Value)?.isEqual(to: value) == true {
      used[key] = use
    } else {
      registrar.withMutation(of: self, keyPath: \.[key]) { used[key] = use }
    }
    changed?()
  }

  /// All values, with those that nobody set as they were.
  func encoded() -> [String: StoredValue] {
    for (key, entry) in used where entry.isSet {
      do {
        // The key must be one that an archive takes.
        _ = try StoredValue([key: true])
        stored[key] = try StoredValue(entry.value)
      } catch {
        note(.storageEncodingFailed(key: key, error.reason))
      }
    }
    return stored
  }

  func takeProblems() -> [ReportNote] {
    defer { problems = [] }
    return problems
  }

  private func note(_ problem: ReportNote) {
    if !problems.contains(problem) { problems.append(problem) }
  }
}
