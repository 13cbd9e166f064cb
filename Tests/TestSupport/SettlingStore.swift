import Foundation
package import RestorationSharing

/// A store over one whose answers cannot be trusted: it looks what has become of its writes.
///
/// Each write begins with a number of its own, by which it is known again. A removal leaves
/// nothing to be known by.
package struct SettlingStore: RemoteStateStore {
  private static let headerByteCount = 24

  private let base: any RemoteStateStore

  package init(_ base: any RemoteStateStore) {
    self.base = base
  }

  package var location: String { base.location }

  package func load(_ name: String) async throws -> RemoteState? {
    guard let state = try await base.load(name) else { return nil }
    let bytes = Self.writes(in: state).flatMap(\.bytes)
    return RemoteState(bytes: bytes, version: state.version)
  }

  package func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await write(bytes, to: name) { bytes in
      try await base.replace(name, with: bytes, expecting: version)
    }
  }

  package func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    try await write(bytes, to: name) { bytes in
      try await base.append(bytes, to: name, expecting: version)
    }
  }

  package func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    try await base.remove(name, expecting: version)
  }

  package func names(prefix: String) async throws -> [String] {
    try await base.names(prefix: prefix)
  }

  private func write(
    _ bytes: [UInt8], to name: String, _ send: ([UInt8]) async throws -> RemoteVersion?
  ) async throws -> RemoteVersion? {
    let id = (0..<16).map { _ in UInt8.random(in: 0...255) }
    let count = withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) }
    do {
      if let version = try await send(id + count + bytes) { return version }
    } catch let error as RemoteStoreError where error.code == .unavailable {
      // What is stored says what it was.
    }
    guard let state = try await base.load(name) else { return nil }
    let ids = Self.writes(in: state).map(\.id)
    guard ids.contains(id) else { return nil }
    // A version that is over fits nowhere.
    return ids.last == id ? state.version : RemoteVersion(UUID().uuidString)
  }

  private static func writes(in state: RemoteState) -> [(id: [UInt8], bytes: ArraySlice<UInt8>)] {
    var writes: [(id: [UInt8], bytes: ArraySlice<UInt8>)] = []
    var rest = state.bytes[...]
    while rest.count >= headerByteCount {
      let id = Array(rest.prefix(16))
      let count = rest.dropFirst(16).prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
      writes.append((id, rest.dropFirst(headerByteCount).prefix(count)))
      rest = rest.dropFirst(headerByteCount + count)
    }
    return writes
  }
}
