import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// A machine with a copy of the states of a store, and another one without.
@MainActor
class LocalCopyTestCase: XCTestCase {
  let base = MemoryRemoteStateStore()
  lazy var store = NetworkStore(base)
  let keys = MemoryKeyProvider()
  let copy = MemoryStateDirectory()
  lazy var here = Device("here", store, keys: keys, localCopy: copy)
  lazy var there = Device("there", base, keys: keys)
}
