public import RestorationKit

/// The result of sealing keys under a new master key.
public struct KeyRotation: Hashable, Sendable {
  /// How many keys were sealed anew under the new master key.
  public fileprivate(set) var sealedAnewCount = 0

  /// How many keys were under the new master key already.
  public fileprivate(set) var unchangedCount = 0

  /// Why keys could not be read; these keys are unchanged.
  public fileprivate(set) var problems: [RestorationError] = []
}

extension KeyRotation: CustomStringConvertible {
  /// The number of keys that were sealed anew, and the problems.
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
  /// 3. When all have it, call this method on one of them, until it seals no key anew and has
  ///    no problems.
  /// 4. Take the old one away from all, and destroy it.
  ///
  /// If the call is cancelled, throws or its process is killed, some keys are under the
  /// new master key and all others under the old one. Servers with both can read all of
  /// them. Call it again. It reads one key after another, so others can work meanwhile.
  ///
  /// - Returns: How many keys were sealed anew, and which could not be read.
  /// - Throws: `CancellationError`, ``/RestorationKit/RestorationError`` with `masterKeyMissing`, or
  ///   `archive` if a master key cannot be read; and the errors of the store.
  public func rotate() async throws -> KeyRotation {
    let masters = try await masterKeys()
    var rotation = KeyRotation()
    for name in [Self.rowOfNames] + (try await store.names(prefix: Self.userPrefix)) {
      try Task.checkCancellation()
      do {
        try await rotate(name, masters, &rotation)
      } catch let error as RestorationError {
        rotation.problems.append(error)
      }
    }
    return rotation
  }

  /// Seals a key anew, and counts it, unless it is gone.
  private func rotate(
    _ name: String, _ masters: MasterKeys, _ rotation: inout KeyRotation
  ) async throws {
    for _ in 0..<Self.tryCount {
      guard let stored = try await store.load(name) else { return }
      if stored.bytes == Self.placeOfKey {
        // A server that is about to store a key there may seal it under a former master
        // key. Changing the version makes that server begin anew.
        let place = try await store.replace(
          name, with: Self.placeOfKey, expecting: stored.version)
        guard place == nil else { return }
        continue
      }
      let (key, isCurrent) = try masters.open(stored.bytes, name, in: store.location)
      guard !isCurrent else { return rotation.unchangedCount += 1 }
      let sealed = try masters.seal(key, name)
      if try await store.replace(name, with: sealed, expecting: stored.version) != nil {
        return rotation.sealedAnewCount += 1
      }
    }
    throw Self.busy(name)
  }
}
