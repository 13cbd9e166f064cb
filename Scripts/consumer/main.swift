// A program outside the package: what it uses is public, or it does not build.

import ArchiveCodec
import Foundation
import RestorationKit
import Unreflected

final class Counter: RestorableNode {
  let restorationIdentifier = "counter"
  var count = 0

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(count, forKey: "count")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    count = try coder.decode(forKey: "count")
  }
}

/// A source of keys that fails as those of the library do.
struct OfflineKeys: KeyProvider {
  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    guard creating else { throw ArchiveError(systemError: 110) }
    throw ArchiveError(.keyMissing, subject: "the server does not answer", location: "keys.example")
  }
}

let store = MemoryStateDirectory()
let keys = try ArchiveKey()

func keeper() throws -> StateKeeper {
  try StateKeeper(application: "org.example.consumer", directory: store, keys: keys)
}

let counter = Counter()
counter.count = 7
print(try await keeper().save([counter]))
counter.count = 0
do {
  _ = try await StateKeeper(
    application: "org.example.consumer", directory: store, keys: OfflineKeys()
  )
  .restore(into: [counter])
  print("A key came from nowhere.")
  exit(1)
} catch {
  print("As it should be: \(error)")
}
print(try await keeper().restore(into: [counter]))
guard counter.count == 7 else {
  print("The count is lost.")
  exit(1)
}

// What cannot be found is said, and not silently lost.
let screen = UnreflectedScreen()
screen.draft = "Milk"
let saved = try await keeper().save([screen])
guard
  saved.problems.flatMap(\.notes).contains(.fieldsNotFound(className: "UnreflectedScreen"))
else {
  print("Nobody says that fields are missing: \(saved)")
  exit(1)
}
print("ArchiveCodec and RestorationKit are here.")
