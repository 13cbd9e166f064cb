import ArchiveCodec
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// A machine that has saved often, what its local copy had in between, and another machine.
@MainActor
struct SavedOften {
  static let count = 60
  static let olderCount = 41

  let base = MemoryRemoteStateStore()
  let network: NetworkStore
  let keys = MemoryKeyProvider()
  let copy = MemoryStateDirectory()
  let here: Device
  let there: Device
  /// The files of the local copy after ``olderCount`` saves.
  private(set) var older: [String: [UInt8]] = [:]

  init() async throws {
    network = NetworkStore(base)
    here = Device("here", network, keys: keys, localCopy: copy)
    there = Device("there", base, keys: keys)
    let keeper = try here.launch()
    let root = Self.node()
    for number in 1...Self.count {
      root.value = "state \(number)"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertNil(report.unsent)
      if number == Self.olderCount { older = try files }
    }
    XCTAssertEqual(keeper.remoteStatus, .current)
    await keeper.close()
  }

  /// What is in the local copy, by name.
  var files: [String: [UInt8]] {
    get throws {
      var files: [String: [UInt8]] = [:]
      for name in try copy.names() { files[name] = copy.memory(named: name).bytes }
      return files
    }
  }

  static func node() -> TestNode {
    TestNode(
      "root", children: [TestNode("text", value: String(repeating: "text ", count: 400))])
  }

  /// What the store has, as another machine sees it.
  func stored() async throws -> TestNode {
    let node = Self.node()
    _ = try await there.launch().restore(into: [node])
    return node
  }

  /// What may become of a file, by a name for a person to read.
  static func damages(of file: [UInt8], older: [UInt8]?) -> [(String, [UInt8]?)] {
    func flipped(_ place: Int) -> [UInt8] {
      var bytes = file
      bytes[place] ^= 4
      return bytes
    }
    let places = [
      0, 4, 9, 20, 70, 200, file.count / 4, file.count / 2, file.count * 3 / 4, file.count - 70,
      file.count - 1,
    ]
    return places.filter(file.indices.contains).map { ("a bit at \($0)", flipped($0)) } + [
      ("cut at the end", file.dropLast()), ("cut in half", Array(file.prefix(file.count / 2))),
      ("emptied", []), ("removed", nil), ("an older one", older),
    ]
  }
}
