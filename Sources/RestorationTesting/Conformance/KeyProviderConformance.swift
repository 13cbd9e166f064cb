internal import ArchiveCodec
public import RestorationKit

private typealias KeyCheck = ConformanceCheck<any KeyProvider>

/// The promises of ``/RestorationKit/KeyProvider``, as checks for one of your own.
public enum KeyProviderConformance: Sendable {
  /// The promises of every provider.
  public static let checks: [ConformanceCheck<any KeyProvider>] = [
    KeyCheck("askingMakesNoKey", "A key that must not be made is not made.") {
      let provider = try $0()
      // A provider that has its key from elsewhere has the key from the start.
      guard try provider.key(creating: false) == nil else { return }
      for (which, provider) in [("Asked again", provider), ("Opened again", try $0())] {
        try expect(
          try provider.key(creating: false) == nil, "\(which), there was a key.")
      }
    },
    KeyCheck("creatingGivesAKey", "There is a key when one may be made.") {
      try expect(try $0().key(creating: true) != nil, "key(creating: true) was nil.")
    },
    KeyCheck("theKeyStaysTheSame", "A key that is there is never replaced by another one.") {
      let provider = try $0()
      let key = try require(try provider.key(creating: true), "key(creating: true) was nil.")
      for (which, provider) in [("Asked again", provider), ("Opened again", try $0())] {
        for creating in [false, true] {
          let again = try require(
            try provider.key(creating: creating), "\(which), key(creating: \(creating)) was nil.")
          try expect(
            again.isSame(as: key), "\(which), key(creating: \(creating)) was another one.")
        }
      }
    },
    KeyCheck("whoAskAtOnceGetOneKey", "Those who may make the key at once get the same one.") {
      let askers = try several($0)
      let keys = try atOnce(askers) { asker throws(ArchiveError) in try asker.key(creating: true) }
      let first = try require(keys.first ?? nil, "key(creating: true) was nil.")
      for key in keys + [try $0().key(creating: false)] {
        try expect(key?.isSame(as: first) == true, "One of them got another one.")
      }
    },
    KeyCheck("locationIsReadable", "The location is nil or says where the key is.") {
      let location = try $0().location
      try expect(location?.isEmpty != true, "It was empty.")
      try expect(try $0().location == location, "Opened again, there was another location.")
    },
  ]

  /// The promises of a provider that makes its key when it is first needed.
  ///
  /// Leave these checks out for a provider whose key comes from elsewhere.
  public static let creatingChecks: [ConformanceCheck<any KeyProvider>] = [
    KeyCheck("nothingStoredIsNoKey", "Where no key was made, there is none.") {
      try expect(try $0().key(creating: false) == nil, "key(creating: false) gave one.")
    }
  ]

  /// The promises of a provider whose key cannot be used.
  ///
  /// - Parameter damage: Damages the key of a provider that has one, as by changing
  ///   the bytes of its file.
  /// - Returns: The checks.
  public static func checks(
    damaging damage: @escaping @Sendable (any KeyProvider) throws -> Void
  ) -> [ConformanceCheck<any KeyProvider>] {
    [
      KeyCheck(
        "damagedKeyThrows", "A key that cannot be used throws, and is not replaced by another one."
      ) {
        let provider = try $0()
        _ = try provider.key(creating: true)
        try damage(provider)
        for _ in 0..<2 {
          for creating in [true, false] {
            // The provider that has read the key before may still have it.
            let next = try $0()
            try expectThrowsArchiveError("Damaged, key(creating: \(creating))") {
              _ = try next.key(creating: creating)
            }
          }
        }
      }
    ]
  }

  /// The promises of a provider whose key can be locked.
  ///
  /// - Parameters:
  ///   - lock: Locks the key of a provider, as the system does when the user leaves.
  ///   - unlock: Unlocks the key again.
  /// - Returns: The checks.
  public static func checks(
    locking lock: @escaping @Sendable (any KeyProvider) throws -> Void,
    unlocking unlock: @escaping @Sendable (any KeyProvider) throws -> Void
  ) -> [ConformanceCheck<any KeyProvider>] {
    [
      KeyCheck(
        "lockedKeyThrows",
        "While the key is locked, asking throws keyLocked, and afterwards gives it."
      ) {
        let provider = try $0()
        let key = try require(try provider.key(creating: true), "key(creating: true) was nil.")
        try lock(provider)
        for creating in [true, false] {
          try expectThrows(.keyLocked, "Locked, key(creating: \(creating)):") {
            _ = try provider.key(creating: creating)
          }
        }
        try unlock(provider)
        let again = try require(try provider.key(creating: true), "Unlocked, there was no key.")
        try expect(again.isSame(as: key), "Unlocked, the key was another one.")
      }
    ]
  }

  private static func expectThrowsArchiveError(
    _ what: String, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch is ArchiveError {
      return
    }
    throw Observation("\(what) did not throw.")
  }
}
