internal import ArchiveCodec

extension StorageConformance {
  static let appending = [
    StorageCheck("appendedIsStored", "What is written at the end and synchronized is stored.") {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let file = try require(try storage.openForAppending(), "Nothing was stored.")
      var expected = [UInt8].sample(1)
      for (number, count) in [(2, 1), (3, 5000), (4, 1000)] {
        try file.write(.sample(number, count: count), at: expected.count)
        try file.synchronize()
        expected += .sample(number, count: count)
        let stored = try file.storedByteCount()
        try expect(
          stored == expected.count,
          "storedByteCount() was \(stored.map(String.init) ?? "nil") and not \(expected.count).")
        try expectBytes(expected, in: try $0(), "Opened again")
      }
    },
    StorageCheck("appendableFileReads", "A file that is open for appending reads what is there.") {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let file = try require(try storage.openForAppending(), "Nothing was stored.")
      let found = try file.read(at: 10, count: 90)
      try expect(found == Array([UInt8].sample(1)[10...]), "It gave \(describe(found)).")
      try expectThrows(.truncated, "For one byte more than there are") {
        _ = try file.read(at: 10, count: 91)
      }
    },
    StorageCheck(
      "byteCountIsThatOfOpening", "The size of a file is what it was when it was opened."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let reading = try require(try storage.open(), "Nothing was stored.")
      let appending = try require(try storage.openForAppending(), "Nothing was stored.")
      try appending.write(.sample(2), at: 100)
      try appending.synchronize()
      for file in [reading, appending] {
        try expect(file.byteCount == 100, "After 100 more bytes it was \(file.byteCount).")
      }
    },
    StorageCheck("truncateCutsTheEnd", "Truncating cuts off what follows, and nothing before it.") {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let file = try require(try storage.openForAppending(), "Nothing was stored.")
      for count in [100, 60, 0] {
        try file.truncate(to: count)
        let stored = try file.storedByteCount()
        try expect(
          stored == count,
          "Cut to \(count), storedByteCount() was \(stored.map(String.init) ?? "nil").")
        try expectBytes(
          Array([UInt8].sample(1).prefix(count)), in: try $0(), "Cut to \(count) and opened again")
      }
      try file.write(.sample(2), at: 0)
      try expectBytes(.sample(2), in: try $0(), "Written again after the cut")
    },
    StorageCheck(
      "anotherArchiveIsNoticed",
      "storedByteCount() is nil after the archive was replaced or removed."
    ) {
      let storage = try $0()
      let other = try $0()
      let changes: [(String, () throws -> Void)] = [
        ("replaced by the same bytes", { try other.replace(by: .sample(1)) }),
        ("removed", { try other.remove() }),
      ]
      for (what, change) in changes {
        try storage.replace(by: .sample(1))
        let file = try require(try storage.openForAppending(), "Nothing was stored.")
        try change()
        let stored = try file.storedByteCount()
        try expect(stored == nil, "It was \(stored ?? 0) after the archive was \(what).")
      }
    },
    StorageCheck(
      "storedByteCountIsThatOfNow", "storedByteCount() counts what others append and cut off."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let file = try require(try storage.openForAppending(), "Nothing was stored.")
      let other = try require(try $0().openForAppending(), "Opened again, nothing was stored.")
      let changes: [(String, Int, () throws -> Void)] = [
        ("appended 50 bytes", 150, { try other.write(.sample(2, count: 50), at: 100) }),
        ("cut it to 60 bytes", 60, { try other.truncate(to: 60) }),
      ]
      for (what, expected, change) in changes {
        try change()
        try other.synchronize()
        let stored = try file.storedByteCount()
        try expect(
          stored == expected,
          "After another one \(what), it was \(stored.map(String.init) ?? "nil").")
      }
    },
  ]

  static let locking = [
    StorageCheck("lockIsExclusive", "While one has the lock, another one is refused at once.") {
      let storage = try $0()
      let lock = try storage.lock()
      for (which, other) in [("the same storage", storage), ("another one", try $0())] {
        try expectThrows(.locked, "Asked through \(which)") { _ = try other.lock() }
        try expect(try other.isLocked(), "Asked through \(which), isLocked() was false.")
      }
      try expect(try lock.isHeld(), "isHeld() was false.")
    },
    StorageCheck("oneOfManyGetsTheLock", "Of those who ask for the lock at once, one gets it.") {
      let askers = try several($0)
      for _ in 0..<roundCount {
        let locks = try atOnce(askers) { asker throws(ArchiveError) -> (any ArchiveLock)? in
          do throws(ArchiveError) {
            return try asker.lock()
          } catch {
            guard error.code == .locked else { throw error }
            return nil
          }
        }
        let count = locks.count { $0 != nil }
        try expect(count == 1, "Of \(askers.count) who asked, \(count) got it.")
      }
    },
    StorageCheck("lockGoesWithItsLastReference", "The lock ends when nobody has it any more.") {
      let storage = try $0()
      try expect(try !storage.isLocked(), "isLocked() was true before anybody asked for it.")
      for _ in 0..<2 {
        var lock: (any ArchiveLock)? = try storage.lock()
        try expect(try lock?.isHeld() == true, "isHeld() was false.")
        lock = nil
        try expect(try !storage.isLocked(), "isLocked() was true after it had gone.")
      }
    },
    StorageCheck("lockStoresNothing", "A lock stores nothing and changes nothing that is stored.") {
      let storage = try $0()
      for stored in [nil, [UInt8].sample(1)] {
        if let stored { try storage.replace(by: stored) }
        let lock = try storage.lock()
        try expectBytes(stored, in: storage, "With the lock")
        try expect(try lock.isHeld(), "isHeld() was false.")
      }
      try expectBytes(.sample(1), in: storage, "Without the lock")
    },
    StorageCheck(
      "lockOutlivesTheArchive", "Readers and replace(_:) need no lock, and take it from nobody."
    ) {
      let storage = try $0()
      let lock = try storage.lock()
      let other = try $0()
      try other.replace(by: .sample(1))
      try expectBytes(.sample(1), in: other, "While another one had the lock")
      try other.replace(by: .sample(2))
      try expect(try lock.isHeld(), "After replace(_:), isHeld() was false.")
      try expectThrows(.locked, "After replace(_:)") { _ = try other.lock() }
    },
  ]

  static let removing = [
    StorageCheck("removeRemoves", "Removing removes what is stored, and nothing is no error.") {
      let storage = try $0()
      try storage.remove()
      try storage.replace(by: .sample(1))
      try storage.remove()
      try expectBytes(nil, in: storage, "Afterwards")
      try storage.remove()
      try storage.replace(by: .sample(2))
      try expectBytes(.sample(2), in: try $0(), "Stored again")
    }
  ]
}
