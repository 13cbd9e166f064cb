/// What sealing keys under a new master key has done.
public struct KeyRotation: Hashable, Sendable {
  /// How many keys are sealed under the new master key now, and were not before.
  public fileprivate(set) var sealedAnewCount = 0

  /// How many keys were sealed under it already.
  public fileprivate(set) var unchangedCount = 0

  /// Why keys could not be read; they are as they were.
  public fileprivate(set) var problems: [RestorationError] = []
}

extension KeyRotation: CustomStringConvertible {
  /// How many keys were sealed anew, and what was wrong.
  public var description: String {
    (["\(sealedAnewCount) keys are sealed anew, \(unchangedCount) were before."]
      + problems.map(\.description)).joined(separator: "\n")
  }
}

extension UserKeys {
  /// Seals each key that is under a former master key under the new one.
  ///
  /// The keys of the users stay the same, and so do their states. To change the master key
  /// while servers run:
  ///
  /// 1. Give all servers the new master key among the `former` ones.
  /// 2. Then make it the `master` of all, one after another, and the old one a `former` one.
  /// 3. When all have it, call this on one of them, until it seals no key anew and has no
  ///    problems.
  /// 4. Take the old one away from all, and destroy it.
  ///
  /// If it is cancelled, throws or its process is killed, some keys are under the new master
  /// key and all others under the old one. All can be read by servers with both. Call it
  /// again. It reads one key after another, so others can work meanwhile.
  ///
  /// - Returns: How many keys were sealed anew, and which could not be read.
  /// - Throws: `CancellationError`, ``RestorationError`` with `masterKeyMissing`, or `archive`
  ///   if a master key cannot be read; and what the store throws.
  public func rotate() async throws -> KeyRotation {
    let masters = try await masterKeys()
    var rotation = KeyRotation()
    for name in [Self.rowOfNames] + (try await store.names(prefix: Self.userPrefix)) {
      try Task.checkCancellation()
      do {
        switch try await rotate(name, masters) {
        case true?: rotation.sealedAnewCount += 1
        case false?: rotation.unchangedCount += 1
        case nil: break
        }
      } catch let error as RestorationError {
        rotation.problems.append(error)
      }
    }
    return rotation
  }

  /// Whether the key was sealed anew; nil if it is not there any more.
  private func rotate(_ name: String, _ masters: MasterKeys) async throws -> Bool? {
    for _ in 0..<Self.tryCount {
      guard let stored = try await store.load(name) else { return nil }
      if stored.bytes == Self.placeOfKey {
        // A key that a server is about to store there may be sealed under a former master key: it
        // finds another version, and makes the key anew.
        let place = try await store.replace(
          name, with: Self.placeOfKey, expecting: stored.version)
        guard place == nil else { return nil }
        continue
      }
      let (key, isCurrent) = try masters.open(stored.bytes, name, in: store.location)
      guard !isCurrent else { return false }
      let sealed = try masters.seal(key, name)
      if try await store.replace(name, with: sealed, expecting: stored.version) != nil {
        return true
      }
    }
    throw Self.busy(name)
  }
}
