internal import ArchiveCodec
public import RestorationKit

private typealias DirectoryCheck = ConformanceCheck<any StateDirectory>

/// The promises of ``/RestorationKit/StateDirectory``, as checks for one of your own.
public enum StateDirectoryConformance: Sendable {
  /// The promises of every directory, and those of its storages, as checks whose names
  /// begin with `storage.`.
  public static let checks: [ConformanceCheck<any StateDirectory>] =
    places
    + StorageConformance.checks.map { check in
      check.pulledBack("storage.\(check.name)") { $0.storage(named: stateName) }
    }

  /// The promises of a directory that tells the names of its states.
  ///
  /// Do not run these checks on a directory that leaves `names()` to its default.
  public static let namingChecks: [ConformanceCheck<any StateDirectory>] = naming

  private static let stateName = "main"

  /// Names that a keeper uses, and names that an app may choose.
  private static let names = [
    "main", "main~2", "main.scene-7d4b8f9e", "main.scenes", "user 1", "Größe",
    "a.b", "main2", String(repeating: "n", count: 150),
  ]

  private static let places = [
    DirectoryCheck("everyNameIsAPlace", "Every name has a storage of its own.") {
      let directory = try $0()
      for (number, name) in names.enumerated() {
        try expectBytes(nil, in: directory.storage(named: name), "Before it was stored, “\(name)”")
        try directory.storage(named: name).replace(by: .sample(number))
      }
      for (number, name) in names.enumerated() {
        try expectBytes(.sample(number), in: directory.storage(named: name), "Of all, “\(name)”")
      }
    },
    DirectoryCheck("aNameIsOnePlace", "One name is one storage, whenever it is asked for.") {
      let directory = try $0()
      try directory.storage(named: stateName).replace(by: .sample(1))
      try expectBytes(.sample(1), in: directory.storage(named: stateName), "Asked for again,")
      try expectBytes(.sample(1), in: try $0().storage(named: stateName), "In the next launch,")
      let lock = try directory.storage(named: stateName).lock()
      try expect(
        try directory.storage(named: stateName).isLocked(), "Asked for again, it was not locked.")
      try expect(
        try $0().storage(named: stateName).isLocked(), "In the next launch, it was not locked.")
      try expect(try lock.isHeld(), "isHeld() was false.")
    },
    DirectoryCheck("everyNameHasALock", "Every name has a lock of its own.") {
      let directory = try $0()
      var locks: [any ArchiveLock] = []
      for name in names {
        do {
          locks.append(try directory.storage(named: name).lock())
        } catch let error as ArchiveError where error.code == .locked {
          throw Observation("“\(name)” was locked with the \(locks.count) names before it.")
        }
      }
      for lock in locks { try expect(try lock.isHeld(), "Of all, isHeld() was false.") }
    },
  ]

  private static let naming = [
    DirectoryCheck("namesAreWhatIsStored", "The names are those of what is stored.") {
      let directory = try $0()
      try expectNames([], directory, "Before anything was stored")
      let locks = try names.map { try directory.storage(named: $0).lock() }
      try expectNames([], directory, "With \(locks.count) that were only locked")
      for name in names { try directory.storage(named: name).replace(by: .sample(1)) }
      try expectNames(names, directory, "With all of them stored")
      try expectNames(names, try $0(), "In the next launch")
      for name in names.dropFirst() { try directory.storage(named: name).remove() }
      try expectNames([names[0]], directory, "With all but one removed")
    }
  ]

  private static func expectNames(
    _ expected: [String], _ directory: any StateDirectory, _ moment: String
  ) throws {
    let found = try directory.names().sorted()
    try expect(
      found == expected.sorted(), "\(moment) they were \(found) and not \(expected.sorted()).")
  }
}
