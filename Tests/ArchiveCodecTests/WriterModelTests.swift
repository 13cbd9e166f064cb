import ArchiveCodec
import Foundation
import Synchronization
import TestSupport
import XCTest

/// Random changes on a storage of which any call may fail, against a model.
///
/// Set `WRITER_MODEL_RUNS` and `WRITER_MODEL_SEED` for other runs.
final class WriterModelTests: JournalTestCase {
  private static let environment = ProcessInfo.processInfo.environment

  func testAfterAnyFailureTheArchiveIsWhatTheErrorSays() throws {
    let archives = try archives.get()
    let runs = LongTests.count(100, or: "WRITER_MODEL_RUNS")
    let only = Self.environment["WRITER_MODEL_SEED"].flatMap { UInt64($0) }
    for run in 0..<runs {
      let seed = only ?? (UInt64(run) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
      try oneRun(archives, seed)
      if only != nil { return }
    }
  }

  private func oneRun(_ archives: TestArchives, _ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let storage = ChaosStorage(seed: seed)
    var model: [UInt64: String] = [:]
    var seen: [ArchiveVersion] = []
    var lastGeneration: UInt64 = 0
    var syncFailed = false
    var isStale = false
    func look(_ what: String) throws {
      guard
        let archive = try Archive.open(
          storage.calm, key: archives.key, context: archives.context, recovery: .strict)
      else { return }
      if archive.version.generation < lastGeneration, !syncFailed {
        XCTFail("generation went back: \(what)")
      }
      lastGeneration = archive.version.generation
      for version in seen where archive.verdict(against: version) == .fork {
        XCTFail("fork: \(what)")
      }
      if seen.last != archive.version { seen.append(archive.version) }
    }
    storage.onLook = { bytes, isLocked in
      // A reader at any moment: beside the writer it must never fail.
      let memory = MemoryStorage(bytes)
      let lock = isLocked ? try? memory.lock() : nil
      defer { _ = lock }
      do {
        let archive = try Archive.open(memory, key: archives.key, context: archives.context)
        return archive?.version
      } catch {
        XCTFail("a reader failed, seed \(seed): \(error)")
        return nil
      }
    }
    var writer = try ArchiveWriter(
      storage, with: .key(archives.key), context: archives.context,
      limits: ArchiveLimits(symbolCount: 1 << 16, commitCount: 12))
    for step in 0..<40 {
      let what = "seed \(seed) step \(step)"
      storage.arm(Int.random(in: 0..<3, using: &generator) == 0)
      let kind = Int.random(in: 0..<10, using: &generator)
      var next = model
      var code: ArchiveError.Code?
      do {
        switch kind {
        case 0...5:
          let record = UInt64.random(in: 1...5, using: &generator)
          let text = String(
            repeating: "v\(step) ", count: Int.random(in: 1...4000, using: &generator))
          var removed: [UInt64] = []
          if Bool.random(using: &generator) { removed = [record % 5 + 1] }
          let isFirst = writer.archive == nil
          next[record] = text
          if !isFirst { for gone in removed { next[gone] = nil } }
          let builder = writer.builder()
          try builder.append(record: record) { encoder in
            encoder.encode(text, forKey: "text")
            encoder.encode(1, forKey: "key \(step % 7)")
          }
          try writer.append(
            builder.finish(), removing: removed)
        case 6: try writer.compact()
        case 7:
          let builder = RecordBuilder()
          next = [9: "rewritten \(step)"]
          try builder.append(record: 9) { $0.encode("rewritten \(step)", forKey: "text") }
          try writer.rewrite(builder.finish())
        case 8:
          if (writer.slots?.count ?? 0) < 4 {
            try writer.addSlot(.key(try ArchiveKey()))
          } else if let slot = writer.slots?.last {
            try writer.removeSlot(slot)
          }
        default: try writer.checkIsCurrent()
        }
      } catch let error as ArchiveError {
        code = error.code
      }
      let faults = storage.disarm()
      // Nobody knows what is stored when nothing says so.
      if faults.isSuperset(of: [.sync, .truncate, .size]) { return }
      if faults.contains(.sync) || faults.contains(.publish) { syncFailed = true }
      // If the new file cannot be opened, the writer shows the old one until the
      // next change.
      if faults.contains(.open) { isStale = true }
      let stored = try Archive.open(
        storage.calm, key: archives.key, context: archives.context, recovery: .strict)
      let texts = try stored.map { try self.texts($0) } ?? [:]
      switch code {
      case nil, .notDurable: model = next
      default: break
      }
      if texts != model {
        XCTFail(
          "\(what) kind \(kind) \(String(describing: code)) \(faults): stored \(texts.keys.sorted())"
            + " model \(model.keys.sorted())")
        return
      }
      if !isStale {
        XCTAssertEqual(
          writer.archive?.version, stored?.version, "\(what) kind \(kind) \(code as Any) \(faults)")
      }
      for version in storage.takeSeen() {
        if let stored, stored.verdict(against: version) == .fork {
          // A change that was taken back may be a fork only until the next file.
          if code == nil { XCTFail("fork \(what) kind \(kind) \(faults)") }
        }
        seen.append(version)
      }
      if code == nil { try look(what) }
      if let code, [.poisoned, .outdated].contains(code) || writer.archive == nil {
        if code == .outdated {
          // The writer's own file could not be opened again.
          writer = try reopened(storage, archives)
          isStale = false
        } else {
          if Self.code(of: writer) == .outdated {
            writer = try reopened(storage, archives)
            isStale = false
          }
          let after = try Archive.open(
            storage.calm, key: archives.key, context: archives.context, recovery: .strict)
          if let after {
            for version in seen where after.verdict(against: version) == .fork {
              XCTFail("fork after compact \(what) \(faults)")
            }
            XCTAssertEqual(try self.texts(after), model, what)
          }
        }
      }
    }
  }

  private static func code(of writer: ArchiveWriter) -> ArchiveError.Code? {
    do throws(ArchiveError) {
      try writer.compact()
      return nil
    } catch {
      return error.code
    }
  }

  private func reopened(
    _ storage: ChaosStorage, _ archives: TestArchives
  ) throws -> ArchiveWriter {
    storage.stealLock()
    return try ArchiveWriter(
      storage, with: .key(archives.key), context: archives.context,
      limits: ArchiveLimits(symbolCount: 1 << 16, commitCount: 12))
  }
}

private enum ChaosFault: Hashable, Sendable {
  case open, write, truncate, sync, replace, publish, size, held
}

/// A storage in memory of which any call may fail, before or after its effect.
private final class ChaosStorage: ArchiveStorage, @unchecked Sendable {
  // One thread at a time, in a test.
  var bytes: [UInt8]?
  var number = 0
  var isHeld = false
  var armed = false
  var faults: Set<ChaosFault> = []
  var generator: SeededGenerator
  var seen: [ArchiveVersion] = []
  var onLook: ([UInt8]?, Bool) -> ArchiveVersion? = { _, _ in nil }
  let location = "chaos"

  init(seed: UInt64) { generator = SeededGenerator(seed: ~seed) }

  func arm(_ on: Bool) {
    armed = on
    faults = []
  }

  func disarm() -> Set<ChaosFault> {
    armed = false
    return faults
  }

  func stealLock() { isHeld = false }

  func takeSeen() -> [ArchiveVersion] {
    defer { seen = [] }
    return seen
  }

  func look() {
    if let version = onLook(bytes, isHeld), seen.last != version { seen.append(version) }
  }

  func fails(_ fault: ChaosFault) -> Bool {
    guard armed, Int.random(in: 0..<3, using: &generator) == 0 else { return false }
    faults.insert(fault)
    return true
  }

  var calm: MemoryStorage {
    let storage = MemoryStorage(bytes)
    kept.append((try? storage.lock()))
    return storage
  }
  var kept: [(any ArchiveLock)?] = []

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try openForAppending() }
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    if fails(.open) { throw ArchiveError(.inputOutput, systemError: EMFILE) }
    return bytes.map { ChaosFile(storage: self, number: number, byteCount: $0.count) }
  }
  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    let sink = MemorySink()
    try body(sink)
    if fails(.replace) { throw ArchiveError(.storageFull, systemError: ENOSPC) }
    bytes = sink.bytes
    number += 1
    look()
    if fails(.publish) { throw ArchiveError(.notDurable, systemError: EIO) }
  }
  func lock() throws(ArchiveError) -> any ArchiveLock {
    guard !isHeld else { throw ArchiveError(.locked) }
    isHeld = true
    return ChaosLock(storage: self)
  }
  func isLocked() throws(ArchiveError) -> Bool { isHeld }
  func remove() throws(ArchiveError) { bytes = nil }
}

private final class ChaosLock: ArchiveLock {
  let storage: ChaosStorage
  init(storage: ChaosStorage) { self.storage = storage }
  func isHeld() throws(ArchiveError) -> Bool {
    if storage.fails(.held) { throw ArchiveError(.inputOutput) }
    return true
  }
}

private struct ChaosFile: AppendableArchiveFile {
  let storage: ChaosStorage
  let number: Int
  let byteCount: Int

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    // A file that was replaced stays readable; the writer reads only then.
    let bytes = storage.bytes ?? []
    guard offset >= 0, count >= 0, offset + count <= bytes.count else {
      throw ArchiveError(.truncated)
    }
    return Array(bytes[offset..<offset + count])
  }
  func storedByteCount() throws(ArchiveError) -> Int? {
    if storage.fails(.size) { throw ArchiveError(.inputOutput) }
    return storage.number == number ? storage.bytes?.count : nil
  }
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    let fails = storage.fails(.write)
    let count =
      fails ? Int.random(in: 0..<bytes.count, using: &storage.generator) : bytes.count
    storage.bytes = Array((storage.bytes ?? []).prefix(offset)) + bytes.prefix(count)
    storage.look()
    if fails { throw ArchiveError(.storageFull, systemError: ENOSPC) }
  }
  func truncate(to byteCount: Int) throws(ArchiveError) {
    let fails = storage.fails(.truncate)
    if !fails || Bool.random(using: &storage.generator) {
      storage.bytes = storage.bytes.map { Array($0.prefix(byteCount)) }
    }
    storage.look()
    if fails { throw ArchiveError(.inputOutput, systemError: EIO) }
  }
  func synchronize() throws(ArchiveError) {
    storage.look()
    if storage.fails(.sync) { throw ArchiveError(.inputOutput, systemError: EIO) }
  }
}
