#if PostgreSQL
import Foundation
import RestorationKit
import Synchronization
import XCTest

/// Appends numbers to a state, and sees to it that none is lost that was said to be stored.
struct NumberWriter {
  let name: String
  let store: any RemoteStateStore

  /// How many were said to be stored.
  private(set) var count = 0
  private var version: RemoteVersion?
  private(set) var failureCount = 0

  init(_ name: String, in store: any RemoteStateStore) {
    (self.name, self.store) = (name, store)
  }

  /// The bytes of the numbers up to one.
  static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).flatMap { Array("\($0) ".utf8) }
  }

  /// Appends the next number; after a failure it looks what is stored until it can see it.
  mutating func append() async throws {
    let bytes = Array("\(count) ".utf8)
    do {
      let new =
        if let version {
          try await store.append(bytes, to: name, expecting: version)
        } else {
          try await store.replace(name, with: bytes, expecting: nil)
        }
      guard let new else { return try await look() }
      (count, version) = (count + 1, new)
    } catch let error as RemoteStoreError where error.code == .unavailable {
      failureCount += 1
      try await look()
    }
  }

  /// Looks what is stored: what was, or that and what was not acknowledged.
  private mutating func look() async throws {
    let state = try await loadedState()
    guard let state else { return XCTAssertEqual(count, 0, "\(name) is lost.") }
    if state.bytes == Self.bytes(count + 1), state.version != version {
      (count, version) = (count + 1, state.version)
    } else {
      XCTAssertEqual(
        String(decoding: state.bytes, as: UTF8.self),
        String(decoding: Self.bytes(count), as: UTF8.self), name)
      XCTAssertEqual(state.version, version, name)
    }
  }

  private func loadedState() async throws -> RemoteState? {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do {
        return try await store.load(name)
      } catch let error as RemoteStoreError where error.code == .unavailable {
        guard ContinuousClock.now < end else { throw error }
      }
    }
  }

  /// Sees to it that all is stored that was said to be, and nothing else.
  func check() async throws {
    let state = try await store.load(name)
    XCTAssertEqual(
      state.map { String(decoding: $0.bytes, as: UTF8.self) },
      String(decoding: Self.bytes(count), as: UTF8.self), name)
    XCTAssertEqual(state?.version, version, name)
  }
}

/// Counts what several tasks have done.
final class Counter: Sendable {
  private let content = Atomic(0)

  var value: Int { content.load(ordering: .relaxed) }

  func add() { content.add(1, ordering: .relaxed) }
}

/// Tells several tasks something once.
final class Flag: Sendable {
  private let content = Atomic(false)

  var isSet: Bool { content.load(ordering: .relaxed) }

  func set() { content.store(true, ordering: .relaxed) }
}

/// Lets writers append at once, each to a state of its own, while a body does harm.
///
/// Each goes on until it has stored as many as the goal after the body has returned. The body
/// is given the sum of what they have stored so far, and the answer is how many of their calls
/// have failed.
@discardableResult
func writeNumbers(
  writerCount: Int = 20, goal: Int = 10, in store: any RemoteStateStore,
  during body: (_ stored: Counter) async throws -> Void
) async throws -> Int {
  let stored = Counter()
  let isDone = Flag()
  return try await withThrowingTaskGroup(of: NumberWriter.self) { group in
    for number in 0..<writerCount {
      group.addTask {
        var writer = NumberWriter("numbers \(number)", in: store)
        var after = 0
        while after < goal {
          let before = writer.count
          try await writer.append()
          guard writer.count > before else { continue }
          stored.add()
          if isDone.isSet { after += 1 }
        }
        return writer
      }
    }
    try await body(stored)
    isDone.set()
    var failureCount = 0
    for try await writer in group {
      try await writer.check()
      failureCount += writer.failureCount
    }
    return failureCount
  }
}
#endif
import RestorationSharing
