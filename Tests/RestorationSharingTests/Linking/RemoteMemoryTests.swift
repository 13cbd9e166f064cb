#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// What a store can make a process hold in memory.
@MainActor
final class RemoteMemoryTests: XCTestCase {
  /// In bytes.
  private func residentSize() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let words = try XCTUnwrap(line).split(whereSeparator: \.isWhitespace)
    return try XCTUnwrap(Int(words[1])) * 1024
  }

  func testNothingOfALaunchIsInMemoryWhenNobodyHasTheState() async throws {
    let directory = RemoteStateDirectory(MemoryRemoteStateStore())
    let keys = MemoryKeyProvider()
    for _ in 0..<2 {
      let keeper = try StateKeeper(application: "org.example", directory: directory, keys: keys)
      _ = try await keeper.restore()
      _ = try await keeper.save([TestNode("root")])
      await keeper.close()
    }
    XCTAssertNil(try directory.storage(named: "main.launch").open())
  }

  func testWhatWasSetAsideIsInMemoryOnlyWhileItIsPutBack() async throws {
    let keys = MemoryKeyProvider()
    let base = MemoryRemoteStateStore()
    let keeper = try Device("here", base, keys: keys).launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    let state = try XCTUnwrap(base[bytes: "main"])
    let size = try await Device.archiveByteCount(of: state, keys: keys)
    let store = CrowdedStore(base, asides: 200, of: state, of: size, byteCount: 2 << 20)
    let next = try Device("there", store, keys: keys).launch()
    _ = try await next.restore()
    let before = try residentSize()
    let states = try await next.setAsideStates()
    XCTAssertEqual(states.count, 200)
    XCTAssertLessThan(try residentSize() - before, 100 << 20)
    try await next.putBack(try XCTUnwrap(states.last))
    let root = TestNode("root")
    let report = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "Rome", "\(report)")
  }
}

/// A store with many large states that were set aside.
private final class CrowdedStore: RemoteStateStore {
  private let base: MemoryRemoteStateStore
  private let names: [String]
  private let state: [UInt8]
  private let byteCount: Int

  init(
    _ base: MemoryRemoteStateStore, asides count: Int, of state: [UInt8], of size: Int,
    byteCount: Int
  ) {
    (self.base, self.state, self.byteCount) = (base, state, byteCount)
    names = (0..<count).map { number in
      // The last one has the state.
      "main.history-\(String(1_000_000_001 + number).dropFirst())-1-conflict-"
        + "\(number == count - 1 ? size : size + byteCount)"
    }
  }

  var location: String { "a crowded store" }

  func load(_ name: String) async throws -> RemoteState? {
    guard names.contains(name) else { return try await base.load(name) }
    guard name != names.last else { return RemoteState(bytes: state, version: RemoteVersion("1")) }
    return RemoteState(
      bytes: state + [UInt8](repeating: 1, count: byteCount), version: RemoteVersion("1"))
  }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await base.replace(name, with: bytes, expecting: version)
  }

  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    names.contains(name) ? true : try await base.remove(name, expecting: version)
  }

  func names(prefix: String) async throws -> [String] {
    try await base.names(prefix: prefix) + names.filter { $0.hasPrefix(prefix) }
  }
}
#endif
import RestorationSharing
