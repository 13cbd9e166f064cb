internal import ArchiveCodec

internal import RestorationFoundation

/// The entry of one archive in a list, to be compared.
private struct Listed: Equatable, CustomStringConvertible {
  let bytes: [UInt8]?
  let reason: SetAsideReason?
  let seconds: Int

  init(_ bytes: [UInt8], _ reason: SetAsideReason, _ seconds: Int) {
    (self.bytes, self.reason, self.seconds) = (bytes, reason, seconds)
  }

  init(_ archive: SetAsideArchive) throws {
    bytes = try archive.storage.storedBytes()
    reason = archive.reason
    seconds = Int(archive.date.timeIntervalSince(.check(0)).rounded())
  }

  var description: String {
    "\(describe(bytes)), \(reason?.rawValue ?? "no reason"), second \(seconds)"
  }
}

private func expectListed(
  _ expected: [Listed], _ archives: [SetAsideArchive], _ moment: String
) throws {
  let found = try archives.map(Listed.init)
  try expect(
    found == expected,
    "\(moment) it had [\(found.map(\.description).joined(separator: "; "))]"
      + " and not [\(expected.map(\.description).joined(separator: "; "))].")
}

private func last(_ archives: [SetAsideArchive]) throws -> SetAsideArchive {
  try require(archives.last, "Nothing was listed.")
}

extension StorageConformance {
  static let listing = [
    StorageCheck(
      "setAsideIsListed",
      "What was set aside is listed with its bytes, reason and time, the oldest first."
    ) {
      let storage = try $0()
      try expectListed([], try storage.setAsideArchives(), "At first")
      var expected: [Listed] = []
      let reasons = SetAsideReason.allCases.filter { !$0.isGeneration }
      for (number, reason) in reasons.enumerated() {
        try storage.replace(by: .sample(number))
        _ = try storage.setAside(reason, at: .check(number))
        expected.append(Listed(.sample(number), reason, number))
        try expectListed(
          expected, try $0().setAsideArchives(), "With \(number + 1) set aside")
      }
      try expectListed([], try storage.generations(), "As generations")
    },
    StorageCheck(
      "setAsideWithoutAReasonIsListed", "What was set aside without a reason is listed, too."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      _ = try storage.setAside()
      let found = try $0().setAsideArchives().map { try $0.storage.storedBytes() }
      try expect(found == [.sample(1)], "The list had \(found.map(describe)).")
    },
    StorageCheck(
      "goneIsGone", "What was removed, or replaced without a reason, is in no list."
    ) {
      let storage = try $0()
      for number in 0..<2 { try storage.replace(by: .sample(number)) }
      try storage.remove()
      try expectListed([], try storage.setAsideArchives(), "Among what was set aside")
      try expectListed([], try storage.generations(), "Among the generations")
    },
    StorageCheck(
      "setAsideNeverCollides", "What is set aside for one reason at one time is kept, each."
    ) {
      let storage = try $0()
      for number in 0..<3 {
        try storage.replace(by: .sample(number))
        _ = try storage.setAside(.unread, at: .check(0))
      }
      let archives = try storage.setAsideArchives()
      try expect(
        Set(archives.map(\.identifier)).count == 3,
        "Of three, these were listed: \(archives.map(\.identifier)).")
      let found = Set(try archives.map { try $0.storage.storedBytes() ?? [] })
      try expect(
        found == [.sample(0), .sample(1), .sample(2)],
        "Their bytes were \(found.map(describe).sorted()).")
    },
    StorageCheck(
      "setAsideStaysUntilRemoved",
      "What was set aside stays when the archive is removed, and goes alone."
    ) {
      let storage = try $0()
      for number in 0..<2 {
        try storage.replace(by: .sample(number))
        _ = try storage.setAside(.crashed, at: .check(number))
      }
      try storage.replace(by: .sample(2))
      try storage.remove()
      let both = [Listed(.sample(0), .crashed, 0), Listed(.sample(1), .crashed, 1)]
      try expectListed(both, try storage.setAsideArchives(), "With the archive removed")
      try last(try storage.setAsideArchives()).storage.remove()
      try expectListed([both[0]], try $0().setAsideArchives(), "With the last one removed")
    },
    StorageCheck(
      "replaceSetsAsideForOtherReasons",
      "Replacing for a reason that is no generation sets the old archive aside."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      try storage.replace(by: .sample(2), settingAside: .unread, at: 5)
      try expectListed(
        [Listed(.sample(1), .unread, 5)], try storage.setAsideArchives(), "Afterwards")
    },
    StorageCheck(
      "failedReplacementLosesNothing",
      "When a body throws, the old archive is still stored, or was set aside."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      storage.failToReplace(settingAside: .unread)
      let places = [storage] + (try storage.setAsideArchives().map(\.storage))
      try expect(
        try places.contains { try $0.storedBytes() == .sample(1) }, "It was in neither place.")
    },
  ]

  static let generations = [
    StorageCheck(
      "generationsAreKept",
      "What a replacement makes a generation is listed so, the oldest first, and nowhere else."
    ) {
      let storage = try $0()
      var expected: [Listed] = []
      for (number, reason) in [SetAsideReason.previous, .upgraded, .previous].enumerated() {
        try storage.replace(by: .sample(number), settingAside: reason, at: number)
        if number > 0 { expected.append(Listed(.sample(number - 1), reason, number)) }
        try expectListed(expected, try $0().generations(), "After \(number + 1) replacements")
      }
      try expectListed([], try storage.setAsideArchives(), "Among what was set aside")
      try expectBytes(.sample(2), in: storage, "At the end")
      try last(try storage.generations()).storage.remove()
      try expectListed([expected[0]], try storage.generations(), "With the last one removed")
    },
    StorageCheck(
      "generationHasWhatWasAppended", "A generation has all that was appended to the archive."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      let file = try require(try storage.openForAppending(), "Nothing was stored.")
      try file.write(.sample(2), at: 100)
      try file.synchronize()
      try storage.replace(settingAside: .previous, at: .check(1)) { sink throws(ArchiveError) in
        try sink.write(.sample(4))
        // The writer of the old archive goes on until the new archive replaces it.
        try file.write(.sample(3), at: 200)
        try file.synchronize()
      }
      try expectListed(
        [Listed(.sample(1) + .sample(2) + .sample(3), .previous, 1)], try storage.generations(),
        "Afterwards")
    },
    StorageCheck(
      "failedReplacementMakesNoGeneration", "A body that throws makes no generation."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      storage.failToReplace(settingAside: .previous)
      try expectListed([], try storage.generations(), "After the error")
      try expectBytes(.sample(1), in: storage, "After the error")
    },
  ]

  static let removingSetAside = [
    StorageCheck(
      "removeSetAsideTakesThoseNamed",
      "Removing what was set aside removes those that it is given, also generations, and no other."
    ) {
      let storage = try $0()
      for number in 0..<4 {
        try storage.replace(by: .sample(number))
        _ = try storage.setAside(.crashed, at: .check(number))
      }
      for number in 4..<7 {
        try storage.replace(by: .sample(number), settingAside: .previous, at: number)
      }
      let archives = try storage.setAsideArchives()
      try expect(archives.count == 4, "Of four, \(archives.count) were listed.")
      let generations = try storage.generations()
      try expect(generations.count == 2, "Of two generations, \(generations.count) were listed.")
      // An archive that is gone already is no error.
      try archives[2].storage.remove()
      try storage.removeSetAside([archives[0], archives[2], archives[3], generations[0]])
      let left = [Listed(.sample(1), .crashed, 1)]
      try expectListed(left, try $0().setAsideArchives(), "Afterwards")
      try expectListed([Listed(.sample(5), .previous, 6)], try $0().generations(), "Afterwards")
      try expectBytes(.sample(6), in: storage, "Afterwards")
      try storage.removeSetAside([])
      try expectListed(left, try $0().setAsideArchives(), "After none was removed")
    }
  ]

  static let puttingBack = [
    StorageCheck(
      "putBackRestores", "Putting back makes an archive the stored one, and lists it no more."
    ) {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      _ = try storage.setAside(.crashed, at: .check(1))
      for replaced in [nil, [UInt8].sample(5)] {
        if let replaced {
          _ = try storage.setAside(.crashed, at: .check(2))
          try storage.replace(by: replaced)
        }
        try storage.putBack(try last(try storage.setAsideArchives()))
        try expectBytes(.sample(1), in: try $0(), "Put back over \(describe(replaced))")
        try expectListed([], try storage.setAsideArchives(), "Put back")
      }
    },
    StorageCheck(
      "putBackTakesTheOneNamed", "Putting back takes the archive that it is given, and no other."
    ) {
      let storage = try $0()
      for number in 0..<3 {
        try storage.replace(by: .sample(number))
        _ = try storage.setAside(.crashed, at: .check(number))
      }
      let archives = try storage.setAsideArchives()
      try expect(archives.count == 3, "Of three, \(archives.count) were listed.")
      try storage.putBack(archives[1])
      try expectBytes(.sample(1), in: storage, "Afterwards")
      try expectListed(
        [Listed(.sample(0), .crashed, 0), Listed(.sample(2), .crashed, 2)],
        try storage.setAsideArchives(), "Afterwards")
    },
    StorageCheck("generationIsPutBack", "A generation can be put back, too.") {
      let storage = try $0()
      try storage.replace(by: .sample(1))
      try storage.replace(by: .sample(2), settingAside: .previous, at: 1)
      try storage.remove()
      try storage.putBack(try last(try storage.generations()))
      try expectBytes(.sample(1), in: try $0(), "Afterwards")
      try expectListed([], try storage.generations(), "Afterwards")
    },
  ]
}
