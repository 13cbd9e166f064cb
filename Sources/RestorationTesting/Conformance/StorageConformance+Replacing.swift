internal import ArchiveCodec

typealias StorageCheck = ConformanceCheck<any ArchiveStorage>

extension StorageConformance {
  static let reading = [
    StorageCheck("emptyOpensAsNil", "Nothing stored opens as nil, for reading and for appending.") {
      let storage = try $0()
      try expect(try storage.open() == nil, "open() gave a file.")
      try expect(try storage.openForAppending() == nil, "openForAppending() gave a file.")
    },
    StorageCheck("locationIsReadable", "The location says where the archive is.") {
      let storage = try $0()
      try expect(!storage.location.isEmpty, "It was empty.")
      try expect(
        try $0().location == storage.location, "Opened again, the place had another location.")
    },
    StorageCheck("readGivesTheRange", "A read gives exactly the bytes of its range.") {
      let storage = try $0()
      let bytes = [UInt8].sample(1, count: 1000)
      try storage.replace(by: bytes)
      let file = try require(try storage.open(), "Nothing was stored.")
      try expect(file.byteCount == 1000, "The size was \(file.byteCount) and not 1000.")
      for range in [0..<1000, 0..<1, 999..<1000, 300..<700, 0..<0, 1000..<1000] {
        let found = try file.read(at: range.lowerBound, count: range.count)
        try expect(
          found == Array(bytes[range]),
          "For \(range) it gave \(describe(found)) and not \(describe(Array(bytes[range]))).")
      }
    },
    StorageCheck(
      "readBeyondTheEndIsTruncated", "A read of more than there is throws truncated."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let file = try require(try storage.open(), "Nothing was stored.")
      for (offset, count) in [(0, 101), (100, 1), (99, 2), (5000, 1)] {
        try expectThrows(.truncated, "For \(count) bytes at \(offset) of 100") {
          _ = try file.read(at: offset, count: count)
        }
      }
    },
  ]

  static let replacing = [
    StorageCheck("replaceStoresAllBytes", "What the body writes is stored, all and in order.") {
      let storage = try $0()
      let parts = [[UInt8].sample(1, count: 10), [], .sample(2, count: 70_000), .sample(3)]
      try storage.replace { sink throws(ArchiveError) in
        for part in parts { try sink.write(part) }
      }
      try expectBytes(parts.flatMap(\.self), in: storage, "Afterwards")
      try expectBytes(parts.flatMap(\.self), in: try $0(), "Opened again")
    },
    StorageCheck("replaceLeavesNothingOld", "A new archive replaces the whole old one.") {
      let storage = try $0()
      try storage.replace(by: .sample(1, count: 1000))
      try storage.replace(by: .sample(2, count: 10))
      try expectBytes(.sample(2, count: 10), in: storage, "After a shorter one")
      try storage.replace { _ in }
      try expectBytes([], in: storage, "After one without bytes")
    },
    StorageCheck("replaceIsAllOrNothing", "A body that throws leaves what was stored before.") {
      let storage = try $0()
      for stored in [nil, [UInt8].sample(1)] {
        if let stored { try storage.replace(by: stored) }
        storage.failToReplace()
        try expectBytes(stored, in: storage, "After the error")
      }
    },
    StorageCheck("replacePassesErrorsOn", "Replacing throws what its body throws.") {
      let storage = try $0()
      do {
        try storage.replace { _ throws(ArchiveError) in throw bodyFailure }
      } catch let error as ArchiveError {
        // A storage may add its location.
        return try expect(
          error.code == bodyFailure.code && error.subject == bodyFailure.subject,
          "For “\(bodyFailure)” it threw “\(error)”.")
      }
      throw Observation("It did not throw.")
    },
    StorageCheck(
      "nothingIsSeenBeforeTheEnd", "Until the body has returned, the old archive is there."
    ) {
      let storage = try $0()
      for stored in [nil, [UInt8].sample(1)] {
        if let stored { try storage.replace(by: stored) }
        var found: [UInt8]?
        try storage.replace { sink throws(ArchiveError) in
          try sink.write(.sample(2, count: 5000))
          found = try storage.storedBytes()
        }
        try expect(
          found == stored,
          "In the midst of it there was \(describe(found)) and not \(describe(stored)).")
      }
    },
    StorageCheck(
      "openedStaysAsItWas", "What was opened stays as it was while a new archive replaces it."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let file = try require(try storage.open(), "Nothing was stored.")
      try storage.replace(by: .sample(2, count: 3000))
      let found = try file.read(at: 0, count: file.byteCount)
      try expect(found == .sample(1), "It had \(describe(found)).")
    },
  ]
}
