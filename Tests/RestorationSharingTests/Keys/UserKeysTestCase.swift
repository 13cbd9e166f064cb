import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// The keys of the users of a server, and what several tests do with them.
class UserKeysTestCase: XCTestCase {
  let base = MemoryRemoteStateStore()
  let master = ArchiveKey.new()

  func keys(
    _ store: (any RemoteStateStore)? = nil, master: (any KeyProvider)? = nil,
    former: [any KeyProvider] = []
  ) -> UserKeys {
    UserKeys(store: store ?? base, master: master ?? self.master, former: former)
  }

  func key(of user: String, _ keys: UserKeys) async throws -> ArchiveKey {
    try await keys.key(of: user)
  }

  func row(of user: String) async throws -> String {
    let others = try await base.names(prefix: "")
    _ = try await keys().provider(for: user)
    let names = try await base.names(prefix: "user-")
    return try XCTUnwrap(names.first { !others.contains($0) })
  }

  func stored() async throws -> [String: [UInt8]?] {
    let names = try await base.names(prefix: "")
    return Dictionary(uniqueKeysWithValues: names.map { ($0, base[bytes: $0]) })
  }

  func changed(_ bytes: [UInt8], at place: Int) -> [UInt8] {
    var bytes = bytes
    bytes[place] ^= 1
    return bytes
  }

  func untilItWorks<Value>(_ body: () async throws -> Value) async throws -> Value {
    for _ in 0..<200 {
      do {
        return try await body()
      } catch is RemoteStoreError {
        continue
      }
    }
    return try await body()
  }

  func assertThrows(
    _ code: RestorationError.Code, _ sentence: String?, line: UInt = #line,
    _ body: () async throws -> Void
  ) async {
    do {
      try await body()
      XCTFail("It did not throw.", line: line)
    } catch {
      XCTAssertEqual((error as? RestorationError)?.code, code, "\(error)", line: line)
      if let sentence { XCTAssertEqual("\(error)", sentence, line: line) }
    }
  }
}

extension UserKeys {
  func key(of user: String) async throws -> ArchiveKey {
    let provider = try await provider(for: user)
    return try XCTUnwrap(provider.key(creating: false))
  }
}

extension ArchiveKey {
  /// One with a key of its own.
  static func new() -> ArchiveKey {
    do {
      return try .ephemeral()
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
