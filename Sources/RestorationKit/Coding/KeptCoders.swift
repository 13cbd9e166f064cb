/// Coders that were used after their save, for the next report; each node once.
struct KeptCoders {
  private(set) var keys: [RestorationPath: String] = [:]

  /// A report of the first coders is enough, and the list must not grow for ever.
  private static let most = 16

  mutating func note(_ path: RestorationPath, _ key: String) {
    guard keys.count < Self.most, keys[path] == nil else { return }
    keys[path] = key
  }

  var notes: [ReportNote] {
    keys.map { .coderKeptAfterSave($0.key, key: $0.value) }
      .sorted { $0.description < $1.description }
  }
}
