internal import ArchiveCodec
package import RestorationKit
internal import XCTest

/// What a launch leaves on the disk when its process ends at some moment.
package struct LaunchDisk: Equatable {
  package var state: [UInt8]?
  package var marker: [UInt8]?

  package init(state: [UInt8]? = nil, marker: [UInt8]? = nil) {
    self.state = state
    self.marker = marker
  }
}

extension Launch {
  /// What is stored now; set it to go on from there, as after a crash.
  package var disk: LaunchDisk {
    get { LaunchDisk(state: storedBytes, marker: markerBytes) }
    set {
      storedBytes = newValue.state
      markerBytes = newValue.marker
    }
  }

  /// What is stored beside the state about launches.
  package var markerBytes: [UInt8]? {
    get { store.memory(named: "main.launch").bytes }
    set { store.memory(named: "main.launch").bytes = newValue }
  }

  /// Whether a crash now would be one of a restore, by what is stored.
  package var isInRestore: Bool { store.memory(named: "main.launch").isInRestore }

  /// The bytes at the end of the record of launches that say where the restore was.
  package static let noteByteCount = LaunchNote.byteCount

  /// Checks that no restore is under way; the record of the launch stays, with a note that says so.
  package func assertIsNotMarked(
    _ message: String = "", file: StaticString = #filePath, line: UInt = #line
  ) {
    XCTAssertFalse(isInRestore, message, file: file, line: line)
  }

  /// Notes that the process ends by itself.
  package static func noteExit() {
    LaunchMark.noteExit()
  }

  /// Checks that no state is stored; its file may stay, with no elements.
  package func assertNothingIsStored(
    file: StaticString = #filePath, line: UInt = #line
  ) throws {
    XCTAssertEqual(try storedPaths(), [], file: file, line: line)
  }

  /// The identifier of the first moment whose restores crashed.
  package var crashedLocation: String? {
    do {
      return try store.names().first { $0.contains("-crashed-") }.map {
        String($0.dropFirst("main.history-".count))
      }
    } catch {
      return nil
    }
  }

  /// The identifier of the first moment.
  package var asideLocation: String? {
    do {
      return try store.names().filter { $0.hasPrefix("main.history-") }.min().map {
        String($0.dropFirst("main.history-".count))
      }
    } catch {
      return nil
    }
  }

  /// The bytes of the moments of the state, the oldest first.
  package var setAside: [[UInt8]] { setAside(of: "main") }

  /// The same of a state of a name.
  package func setAside(of name: String) -> [[UInt8]] {
    do {
      return try store.names().filter { $0.hasPrefix("\(name).history") }.sorted()
        .compactMap { store.memory(named: $0).bytes }
    } catch {
      return []
    }
  }

  /// Takes the older states away.
  package func removeSetAside() throws {
    for name in try store.names() where name.hasPrefix("main.history") {
      store.memory(named: name).bytes = nil
    }
  }

  /// A launch that crashes when all nodes are decoded.
  ///
  /// - Returns: What its restore had reported, had it ended.
  @discardableResult
  package func crash(threshold: Int = 2) async throws -> RestorationReport {
    var crashed: LaunchDisk?
    let delegate = TestDelegate()
    delegate.onDidDecode = { [self] _ in crashed = disk }
    let keeper = try keeper(delegate: delegate)
    keeper.policy.crashThreshold = threshold
    let report = try await keeper.restore(into: [TestNode("a")])
    if let crashed { disk = crashed }
    return report
  }

  /// A launch that crashes when it decodes a node of a tree.
  ///
  /// - Returns: What its restore had reported, had it ended.
  @discardableResult
  package func crash(decoding node: TestNode, in root: TestNode) async throws -> RestorationReport {
    var crashed: LaunchDisk?
    node.onDecode = { [self] _ in crashed = disk }
    let report = try await keeper().restore(into: [root])
    if let crashed { disk = crashed }
    return report
  }
}

extension MemoryStorage {
  /// Whether the record of launches here says that a restore is under way.
  package var isInRestore: Bool {
    bytes?.suffix(LaunchNote.byteCount).first == LaunchNote.Stage.restoring.rawValue
  }
}
