// A program outside the package: what it uses is public, or it does not build.

import ArchiveCodec
import Foundation
import RestorationKit

final class Counter: RestorableNode {
  let restorationIdentifier: String? = "counter"
  var count = 0

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(count, forKey: "count")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    count = try coder.decode(forKey: "count")
  }
}

let store = MemoryStateStore()
let keys = FixedKeyProvider(try ArchiveKey())

func keeper() throws -> StateKeeper {
  try StateKeeper(application: "org.example.consumer", store: store, keys: keys)
}

let counter = Counter()
counter.count = 7
print(try await keeper().save([counter]))
counter.count = 0
print(try await keeper().restore(into: [counter]))
guard counter.count == 7 else {
  print("The count is lost.")
  exit(1)
}
print("ArchiveCodec and RestorationKit are here.")
