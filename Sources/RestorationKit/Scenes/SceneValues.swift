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
  /// One place for observers of all keys of this scene.
  private let registrar = ObservationRegistrar()
  private(set) var problems: [SceneProblem] = []
  var changed: (() -> Void)?

  /// Takes what is stored; what was set already stays.
  func take(_ stored: [String: StoredValue]) {
    registrar.withMutation(of: self, keyPath: \.revision) {
      self.stored = stored
    }
  }

  /// For observation only.
  private var revision: Int { 0 }

  /// The value of a key, nil if there is none or it has another type.
  func value<Value: Codable & Sendable>(_ type: Value.Type, forKey key: String) -> Value? {
    registrar.access(self, keyPath: \.revision)
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
      note(.storageTypeMismatch(key: key, "\(error)"))
      return nil
    }
  }

  func set<Value: Codable & Sendable>(_ value: Value, forKey key: String) {
    registrar.withMutation(of: self, keyPath: \.revision) {
      used[key] = Used(value: value, type: Value.self, isSet: true)
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

  func takeProblems() -> [SceneProblem] {
    defer { problems = [] }
    return problems
  }

  private func note(_ problem: SceneProblem) {
    if !problems.contains(problem) { problems.append(problem) }
  }
}
