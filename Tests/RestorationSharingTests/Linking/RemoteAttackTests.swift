import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// What somebody stores who wants to end or to hold up the processes that read it.
@MainActor
final class RemoteAttackTests: XCTestCase {
  private let keys = MemoryKeyProvider()

  /// A parcel of any bytes.
  private func parcel(
    _ kind: UInt8, id: UInt8 = 7, _ archive: [UInt8]
  ) -> [UInt8] {
    func number(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(count >> (8 * $0) & 255) } }
    return Array("RKP1".utf8) + [kind, 0] + [UInt8](repeating: id, count: 16)
      + number(archive.count) + archive
  }

  private func lease(
    until end: Int64, of owner: String = "somebody", id: UInt8 = 7
  ) -> [UInt8] {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) }
    return parcel(3, id: id, [UInt8](repeating: 9, count: 16) + bytes + Array(owner.utf8))
  }

  /// A state that was saved twice with a lease.
  private func stored() async throws -> [UInt8] {
    let store = MemoryRemoteStateStore()
    let device = Device("here", store, keys: keys)
    device.lease = RemoteLease(owner: "server 1")
    let keeper = try device.launch()
    let root = TestNode("root", value: "Rome")
    _ = try await keeper.save([root])
    root.value = "Oslo"
    _ = try await keeper.save([root])
    await keeper.close()
    return try XCTUnwrap(store[bytes: "main"])
  }

  /// Restores, saves and decides with bytes in the place of a state.
  ///
  /// Whatever they are, what comes back was saved once, and a save gets through.
  private func use(_ bytes: [UInt8], _ what: @autoclosure () -> String) async throws {
    let store = MemoryRemoteStateStore()
    store[bytes: "main"] = bytes
    let device = Device("other", store, keys: keys)
    device.lease = RemoteLease(owner: "server 2", takesOver: true)
    let keeper = try device.launch()
    let root = TestNode("root")
    do {
      _ = try await keeper.restore(into: [root])
      XCTAssert([nil, "Rome", "Oslo"].contains(root.value), what())
    } catch {
      XCTAssertNotNil(error.archive, what())
    }
    root.value = "Bern"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved, what())
    // The same as what another machine has stored meanwhile, and not as an old answer.
    store[bytes: "main"] = bytes + lease(until: 0, id: 8)
    root.value = "Paris"
    guard try await keeper.save([root]).conflict != nil else {
      return XCTFail("No conflict: \(what())")
    }
    try await keeper.resolveConflict(keeping: .ours)
    let value = try await device.restoredValue()
    XCTAssertEqual(value, "Paris", what())
  }

  func testEveryByteOfAStoredStateMayBeAnother() async throws {
    let bytes = try await stored()
    var random = SeededGenerator()
    for place in LongTests.some(of: bytes.indices) {
      // All bits of what is read before anything is authenticated.
      let isHeader = place < 40 || place % 97 == 0
      let bits = isHeader ? Array(0..<8) : [Int.random(in: 0..<8, using: &random)]
      for bit in bits {
        var changed = bytes
        changed[place] ^= 1 << bit
        // That is a later format.
        if changed[...place].suffix(4).starts(with: "RKP".utf8),
          (0x32...0x39).contains(changed[place])
        {
          continue
        }
        try await use(changed, "bit \(bit) of byte \(place), the seed is \(random.seed)")
      }
    }
  }

  /// What a later version of the software stores, alone or after what is known, is left alone.
  func testWhatALaterFormatHasIsReadByNobodyAndOverwrittenByNobody() async throws {
    let known = try await stored()
    for digit in 2...9 {
      var later = parcel(1, [1, 2, 3])
      later[3] = UInt8(ascii: "0") + UInt8(digit)
      for bytes in [later, known + later] {
        let store = MemoryRemoteStateStore()
        let device = Device("other", store, keys: keys)
        let local = MemoryStateDirectory()
        let second = Device("third", store, keys: keys, localCopy: local)
        let (keeper, away) = (try device.launch(), try second.launch())
        let root = TestNode("root", value: "Bern")
        _ = try await away.save([root])
        store[bytes: "main"] = bytes
        for _ in 0..<2 {
          do {
            XCTFail("\(try await keeper.restore(into: [root]))")
          } catch {
            XCTAssertEqual(error.archive?.code, .unsupportedFeature)
          }
          do {
            XCTFail("\(try await keeper.save([root]))")
          } catch {
            XCTAssertTrue("\(error)".contains("Update the app"), "\(error)")
          }
          root.value? += "!"
          let report = try await away.save([root])
          XCTAssertEqual(report.outcome, .saved)
          XCTAssertTrue(report.unsent?.contains("Update the app") ?? false, "\(report)")
        }
        XCTAssertEqual(store[bytes: "main"], bytes)
        let names = try await store.names(prefix: "")
        XCTAssertEqual(names, ["main"])
      }
    }
  }

  func testAConflictWithWhatALaterFormatHasChangesNothing() async throws {
    let store = MemoryRemoteStateStore()
    let keeper = try Device("here", store, keys: keys).launch()
    let root = TestNode("root", value: "Rome")
    _ = try await keeper.save([root])
    let other = try Device("there", store, keys: keys).launch()
    _ = try await other.restore(into: [TestNode("root")])
    _ = try await other.save([TestNode("root", value: "Oslo")])
    root.value = "Bern"
    guard try await keeper.save([root]).conflict != nil else {
      return XCTFail("No conflict")
    }
    var later = parcel(1, [1, 2, 3])
    later[3] = UInt8(ascii: "2")
    store[bytes: "main"] = later
    for choice in [ConflictChoice.ours, .theirs] {
      do {
        XCTFail("\(try await keeper.resolveConflict(keeping: choice) ?? "nothing")")
      } catch {
        XCTAssertEqual(error.archive?.code, .unsupportedFeature)
      }
    }
    XCTAssertEqual(store[bytes: "main"], later)
    let names = try await store.names(prefix: "")
    XCTAssertEqual(names, ["main"])
  }

  func testAnyBytesMayBeStored() async throws {
    var random = SeededGenerator()
    let bytes = try await stored()
    for round in 0..<300 {
      var parts: [UInt8] = []
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let noise = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
          UInt8.random(in: .min ... .max, using: &random)
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: parts += parcel(1, noise)
        case 1: parts += parcel(2, noise)
        case 2: parts += parcel(3, noise)
        case 3: parts += lease(until: .random(in: .min ... .max, using: &random))
        case 4: parts += bytes
        default: parts += noise
        }
      }
      if parts.isEmpty { parts = [0] }
      try await use(parts, "round \(round), the seed is \(random.seed)")
    }
  }

  func testALeaseMayEndAtAnyTime() async throws {
    let bytes = try await stored()
    for end in [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max] {
      try await use(bytes + lease(until: end), "\(end)")
      try await use(lease(until: end) + bytes, "\(end)")
      try await use(lease(until: end), "\(end)")
    }
  }

  func testWhatIsSaidOfAStoreHasNoControlCharacters() async throws {
    let store = MemoryRemoteStateStore()
    let device = Device("here", store, keys: keys)
    device.lease = RemoteLease(owner: "server 1")
    let bytes = try await stored()
    store[bytes: "main"] = bytes + lease(until: .max, of: "A\u{1B}[2J\n\u{9B}é")
    let keeper = try device.launch()
    let report = try await keeper.restore()
    XCTAssertEqual(report.outcome, .inUse(by: "A[2Jé"))
    store[bytes: "main.history-000000001-1-conflict-1\u{1B}[2J"] = bytes
    let states = try await keeper.setAsideStates()
    XCTAssertEqual(states, [])
  }

  func testManyParcelsAreReadInOneGo() async throws {
    let start = ContinuousClock.now
    var bytes = try await stored()
    let small = parcel(2, [])
    bytes.reserveCapacity(bytes.count + 20_000 * small.count)
    for _ in 0..<20_000 { bytes += small }
    try await use(bytes, "many parcels")
    XCTAssertLessThan(start.duration(to: .now), .seconds(60))
  }

  func testALeaseMayBeAskedForForAnyTime() async throws {
    for duration in [Duration.seconds(Int64.min), .zero, .seconds(1e15), .seconds(Int64.max)] {
      let store = MemoryRemoteStateStore()
      let device = Device("here", store, keys: keys)
      device.lease = RemoteLease(
        owner: String(repeating: "e\u{301}", count: 1000), duration: duration)
      let keeper = try device.launch()
      _ = try await keeper.restore()
      let report = try await keeper.save([TestNode("root", value: "Rome")])
      XCTAssertEqual(report.outcome, .saved)
      await keeper.close()
      device.lease = nil
      let value = try await device.restoredValue()
      XCTAssertEqual(value, "Rome")
    }
  }

  func testTheClockOfAMachineMayBeAnything() async throws {
    let times = [-1e300, -1e18, 0, 1e18, 1e300, .infinity, -.infinity, .nan]
    for time in times {
      let store = MemoryRemoteStateStore()
      let device = Device("here", store, keys: keys)
      device.lease = RemoteLease(owner: "server 1")
      device.now = Date(timeIntervalSince1970: time)
      let keeper = try device.launch()
      let root = TestNode("root", value: "Rome")
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved, "\(time)")
      store[bytes: "main"] = try await stored()
      _ = try await keeper.save([root])
      for choice in [ConflictChoice.ours, .theirs] {
        root.value = "\(choice)"
        store[bytes: "main"] = try await stored()
        _ = try await keeper.save([root])
        try await keeper.resolveConflict(keeping: choice)
        let states = try await keeper.setAsideStates()
        XCTAssertFalse(states.isEmpty, "\(time)")
        XCTAssertFalse(states.map { "\($0)" }.isEmpty)
      }
    }
  }

  func testANameOfAMomentMayBeAnything() async throws {
    let store = MemoryRemoteStateStore()
    let keeper = try Device("here", store, keys: keys).launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    let bytes = try await stored()
    let size = try await Device.archiveByteCount(of: bytes, keys: keys)
    let words = [
      "000000001-0-conflict-\(size)", "999999999-\(Int64.max)-conflict-\(size)",
      "000000002-1-conflict-\(Int.max)", "000000002-1-conflict-1", "000000002-1-replaced-\(size)",
      "1-1-conflict-\(size)", "000000002--1-conflict-\(size)", "conflict-1", "", "-", "---",
      "000000002-1-nobody-\(size)", "000000002-1-conflict-\(size)/../..",
      "\u{301}000000002-1-conflict-\(size)", "000000003-1-conflict-99999999999999999999",
    ]
    for word in words { store[bytes: "main.history-\(word)"] = bytes }
    let states = try await keeper.history()
    XCTAssertEqual(states.map(\.id), Array(words.prefix(2)))
    for state in states {
      try await keeper.putBack(state)
      let root = TestNode("root")
      _ = try await keeper.restore(into: [root])
      XCTAssertEqual(root.value, "Oslo")
    }
    let next = try await keeper.history()
    XCTAssertEqual(Set(next.map(\.reason)), [.conflict, .putBack])
  }

  func testTheNoteOfALocalCopyMayHoldAnything() async throws {
    let store = MemoryRemoteStateStore()
    let copy = MemoryStateDirectory()
    let device = Device("here", store, keys: keys, localCopy: copy)
    _ = try await device.launch().save([TestNode("root", value: "Rome")])
    let name = try XCTUnwrap(try copy.names().first { $0.contains(".remote") })
    let note = try XCTUnwrap(copy.memory(named: name).bytes)
    let state = try XCTUnwrap(store[bytes: "main"])
    let main = try XCTUnwrap(copy.memory(named: "main").bytes)
    var notes = (0..<note.count).map { Array(note.prefix($0)) }
    let tagged = try JSONDecoder().decode([String: Data].self, from: Data(note))
    let key = try XCTUnwrap(keys.key(creating: false))
    for (name, numbers) in [
      ("parcelCount", [Int.min, -1, 0, Int.max]), ("byteCount", [Int.min, -1, 0, Int.max]),
    ] {
      for number in numbers {
        let text = String(decoding: try XCTUnwrap(tagged["note"]), as: UTF8.self)
        let range = try XCTUnwrap(text.range(of: "\"\(name)\":"))
        let end = try XCTUnwrap(
          text[range.upperBound...].firstIndex { $0 == "," || $0 == "}" })
        let changed = Array((text[..<range.upperBound] + "\(number)" + text[end...]).utf8)
        let tag = key.tag(
          of: changed, context: ArchiveContext([Launch.application, "main", "remote"]))
        // As of the version before, of somebody without the key, and of a mistake of our own.
        notes.append(changed)
        for tag in [Array(try XCTUnwrap(tagged["tag"])), tag] {
          let sealed = ["note": Data(changed), "tag": Data(tag)]
          notes.append(Array(try JSONEncoder().encode(sealed)))
        }
      }
    }
    notes.append(Array(String(repeating: "[", count: 100_000).utf8))
    for note in notes {
      store[bytes: "main"] = state
      copy.memory(named: "main").bytes = main
      copy.memory(named: name).bytes = note
      device.lease = RemoteLease(owner: "server 1", takesOver: true)
      let keeper = try device.launch()
      let root = TestNode("root")
      _ = try await keeper.restore(into: [root])
      XCTAssertEqual(root.value, "Rome")
      _ = await keeper.checkRemoteState()
      root.value = "Oslo"
      _ = try await keeper.save([root])
      try await keeper.resolveConflict(keeping: .ours)
      await keeper.close()
      let value = try await Device("there", store, keys: keys).restoredValue()
      XCTAssertEqual(value, "Oslo", String(decoding: note, as: UTF8.self))
    }
  }

  func testALeaseThatIsRenewedForLongMakesNoEndlessState() async throws {
    let store = MemoryRemoteStateStore()
    let device = Device("here", store, keys: keys)
    device.lease = RemoteLease(owner: "server 1")
    let empty = try device.launch("empty")
    let keeper = try device.launch()
    _ = try await empty.restore()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    var largest = 0
    for _ in 0..<1200 {
      device.now += 40
      _ = await keeper.checkRemoteState()
      _ = await empty.checkRemoteState()
      for name in ["main", "empty"] { largest = max(largest, store[bytes: name]?.count ?? 0) }
    }
    XCTAssertLessThan(largest, 60_000)
    device.lease = nil
    let value = try await device.restoredValue()
    XCTAssertEqual(value, "Rome")
  }
}
