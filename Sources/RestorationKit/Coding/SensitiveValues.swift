internal import ArchiveCodec

/// The values with a sensitivity that a coder took in one call, by their keys.
struct SensitiveValues {
  enum Value {
    case absent
    case expiring(Duration, ValueContent)
    case secret(ValueContent)
  }

  private enum Entry {
    case value(Value)
    case container(SensitiveValues)
  }

  private var entries: [String: Entry] = [:]

  /// The keys of the values, without the keys of containers.
  var ownKeys: [String] {
    entries.compactMap { key, entry in if case .value = entry { key } else { nil } }
  }

  mutating func set(_ value: Value, forKey key: String) { entries[key] = .value(value) }

  mutating func set(_ container: SensitiveValues, forKey key: String) {
    entries[key] = .container(container)
  }

  mutating func remove(_ key: String) { entries[key] = nil }

  /// All values with the keys that lead to them, sorted by key.
  ///
  /// The recursion is only as deep as the app's own calls were.
  var all: [(keys: [String], value: Value)] {
    entries.sorted { $0.key < $1.key }.flatMap { key, entry -> [(keys: [String], value: Value)] in
      switch entry {
      case .value(let value): [([key], value)]
      case .container(let values): values.all.map { ([key] + $0.keys, $0.value) }
      }
    }
  }
}
