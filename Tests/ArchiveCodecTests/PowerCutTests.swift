import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// A disk whose power is cut at any call, and that keeps any part of what was not synced.
///
/// Set `RESTORATION_HISTORY_STEPS` for another number of steps than 10,000.
final class PowerCutTests: XCTestCase {
  private let archives = Result { try TestArchives() }

  // MARK: At every call

  /// Writes 1, 2, 3… until a call fails; returns the last that was acknowledged.
  private func write(to process: DiskProcess) throws -> Int {
    let archives = try archives.get()
    var acknowledged = 0
    do {
      let writer = try ArchiveWriter.open(
        process.storage(named: "main"), key: archives.key, context: archives.context)
      for value in 1...12 {
        let builder = writer.builder()
        try builder.append(record: 1) { encoder in
          encoder.encode(value, forKey: "value")
          // Large enough that the file is rewritten on the way.
          encoder.encode([UInt8](repeating: 7, count: 9000), forKey: "padding")
        }
        try writer.append(builder.finish())
        acknowledged = value
      }
    } catch let error as ArchiveError
      where [.inputOutput, .poisoned, .notDurable].contains(error.code)
    {
    }
    return acknowledged
  }

  /// Cuts the power at each call, several times with other remains, and checks the value that
  /// is left with what was acknowledged.
  func testWhatWasAcknowledgedIsThereAfterACutAtEveryCall() throws {
    let archives = try archives.get()
    var random = SeededGenerator()
    var call = 0
    var isWhole = false
    while !isWhole {
      for _ in 0..<8 {
        let disk = FaultyDisk(seed: random.next())
        let process = disk.process()
        process.arm(.end, after: call)
        let acknowledged = try write(to: process)
        isWhole = !process.hasEnded
        process.end()
        disk.cutPower()
        let archive = try Archive.open(
          disk.process().storage(named: "main"), key: archives.key, context: archives.context,
          recovery: .recover)
        try archive?.verifyAll()
        let value = try archive?.record(1)?.decode(Int.self, forKey: "value") ?? 0
        XCTAssertTrue(
          (acknowledged...acknowledged + 1).contains(value),
          "TEST_SEED=\(random.seed) call \(call): \(value)")
      }
      call += 1
    }
    XCTAssertGreaterThan(call, 30)
  }

  // MARK: Histories

  func testWhateverFailsInALongLifeTheArchiveIsOneThatWasWritten() throws {
    let steps = LongTests.count(10_000, or: "RESTORATION_HISTORY_STEPS")
    var done = 0
    while done < steps, testRun?.failureCount ?? 0 == 0 {
      // Each has a seed of its own, with which it can be run alone.
      let history = try WriterHistory(archives.get(), SeededGenerator())
      for _ in 0..<min(50, steps - done) where history.failure == nil { try history.step() }
      if let failure = history.failure { XCTFail(failure) }
      done += 50
    }
  }
}

/// A life of an archive, whose records are those of a model.
private final class WriterHistory {
  private typealias Records = [UInt64: String]

  private static let name = "main"
  private static let numberRecord: UInt64 = 100

  private let archives: TestArchives
  /// Those of which one opens the archive: the new one first while a rotation may be undone.
  private var keys: [ArchiveKey]
  private var random: SeededGenerator
  private let disk: FaultyDisk
  private let log = SurvivalLog<Records>("\(name).rka", first: [:])
  private var process: DiskProcess
  private var writer: ArchiveWriter?
  /// The state that is stored: a writer that could not open its new file once has an older archive.
  private var stored = 0
  private var story: [String] = []
  /// Whether something may have been appended since the last sync.
  private var hasUnsynced = false
  private(set) var failure: String?

  init(_ archives: TestArchives, _ random: SeededGenerator) throws {
    self.archives = archives
    keys = [archives.key]
    self.random = random
    disk = FaultyDisk(seed: self.random.next())
    process = disk.process()
    try open()
  }

  private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private func fail(_ what: String) {
    failure = failure ?? "TEST_SEED=\(random.seed): \(what)\n\(story.suffix(20))"
  }

  func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<50: try change(nil)
    case 50..<65: try change(.failure)
    case 65..<75: try change(.end)
    case 75..<88:
      try change(.end)
      try cutPower()
    case 88..<93: try change(.lie)
    case 93..<96:
      process.end()
      try open()
    default: try cutPower()
    }
  }

  // MARK: Changes

  private func change(_ fault: FaultyDisk.Fault?) throws {
    guard let writer else { return try open() }
    var records = log.states[stored]
    let kind = Int.random(in: 0..<12, using: &random)
    let number = log.states.count
    var changed: Set<UInt64> = [Self.numberRecord]
    var removed: UInt64?
    if kind < 7 {
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let record = UInt64.random(in: 1...6, using: &random)
        let count = chance(10) ? 12_000 : chance(30) ? 700 : 3
        records[record] = "\(number) " + String(repeating: "y", count: count)
        changed.insert(record)
      }
      removed = records.keys.filter { $0 < 7 && !changed.contains($0) }.min()
      if chance(70) { removed = nil }
      if let removed { records[removed] = nil }
    }
    records[Self.numberRecord] = "\(number)"
    if let fault {
      process.arm(fault, after: fault == .lie ? 0 : .random(in: 0..<12, using: &random))
    }
    var what = "\(number)"
    do {
      switch kind {
      case 7, 8:
        // What is there stays as it is, and is on the disk then.
        what = "compacted \(stored)"
        try writer.compact()
        if !process.hasEnded, writer.archive != nil { acknowledge(stored) }
      case 10, 11:
        what = try changeKey(writer, sealsAnew: kind == 10)
      default:
        _ = log.attempt(records)
        if kind == 9 {
          what += " written"
          let builder = RecordBuilder()
          try Self.append(records, Set(records.keys), to: builder)
          try writer.rewrite(builder.finish())
        } else {
          what += " appended"
          let builder = writer.builder()
          try Self.append(records, changed, to: builder)
          try writer.append(builder.finish(), removing: removed.map { [$0] } ?? [])
        }
        if !process.hasEnded { acknowledge(number) }
      }
      process.disarm()
    } catch let error as ArchiveError {
      what += " failed: \(error.code)"
      let hasFailed = process.disarm()
      if !process.hasEnded {
        do throws(ArchiveError) { try writer.checkIsCurrent() } catch { process.end() }
        stored = try writer.archive.map(Self.number) ?? 0
      }
      if !hasFailed, ![.poisoned, .outdated].contains(error.code) { fail("\(what): \(error)") }
      if !process.hasEnded, hasUnsynced {
        // A sync that failed may have lost what was appended before it and is only in the memory
        // of the system now, and no later sync writes that: a new file does.
        try writer.compact()
        acknowledge(stored)
        what += ", written anew \(stored)"
      } else if error.code == .poisoned || error.code == .outdated || chance(30) {
        process.end()
      }
    }
    story.append(fault == .lie ? "\(what), with a lie" : what)
    if process.hasEnded {
      // It may have ended between its write and its sync.
      hasUnsynced = true
      try open()
    }
  }

  /// Lets another key open it; the content stays as it is.
  private func changeKey(_ writer: ArchiveWriter, sealsAnew: Bool) throws -> String {
    guard let slot = writer.slots?.first else { return "no key" }
    let new = try ArchiveKey()
    keys.insert(new, at: 0)
    if sealsAnew {
      try writer.rotate(slots: [.key(new)])
    } else {
      try writer.replaceSlot(slot, with: .key(new))
    }
    if !process.hasEnded {
      acknowledge(stored)
      if !disk.owes(log.name) { keys = [new] }
    }
    return sealsAnew ? "rotated \(stored)" : "another key for \(stored)"
  }

  private func acknowledge(_ number: Int) {
    stored = number
    log.acknowledge(number, on: disk)
    hasUnsynced = false
  }

  private static func append(
    _ records: Records, _ changed: Set<UInt64>, to builder: RecordBuilder
  ) throws {
    for record in changed.sorted() {
      guard let text = records[record] else { continue }
      try builder.append(record: record) { $0.encode(text, forKey: "text") }
    }
  }

  private static func records(_ archive: Archive) throws -> Records {
    var records: Records = [:]
    for record in try archive.readAll() {
      records[record.identifier] = try record.content.get().decode(forKey: "text")
    }
    return records
  }

  private static func number(_ archive: Archive) throws -> Int {
    try archive.record(numberRecord).flatMap { Int(try $0.decode(String.self, forKey: "text")) }
      ?? 0
  }

  // MARK: Opening

  private func cutPower() throws {
    process.end()
    writer = nil
    log.cut(disk)
    disk.cutPower()
    story.append("power cut")
    try open()
  }

  /// Opens it with the one key that does.
  private func openWriter(_ storage: any ArchiveStorage) throws(ArchiveError) -> ArchiveWriter {
    var failure: ArchiveError?
    for key in keys {
      do throws(ArchiveError) {
        return try ArchiveWriter.open(storage, key: key, context: archives.context)
      } catch {
        guard error.code == .wrongKey else { throw error }
        failure = error
      }
    }
    throw failure ?? ArchiveError(.wrongKey)
  }

  /// Opens what is there in another process, and checks that it may be.
  private func open() throws {
    process.end()
    writer = nil
    process = disk.process()
    let storage = process.storage(named: Self.name)
    do {
      let opened = try openWriter(storage)
      try opened.archive?.verifyAll()
      let number = try opened.archive.map(Self.number) ?? 0
      story.append("opened \(number)")
      guard log.find([number]) else {
        return fail("\(number) is there, and not one of \(log.allowed.sorted())")
      }
      let records = try opened.archive.map(Self.records) ?? [:]
      if records != log.states[number] { fail("\(number) is a mixture") }
      (writer, stored) = (opened, number)
    } catch let error as ArchiveError {
      story.append("not opened: \(error.code)")
      guard log.findUnreadable() else { return fail("\(error)") }
      try storage.remove()
    }
  }
}
