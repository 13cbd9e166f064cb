#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import XCTest

/// A disk of 64 KiB, mounted over a directory, that a test can fill.
package struct SmallDisk: ~Copyable {
  private let path: String

  /// Skips the test where no disk can be mounted.
  package init(over path: String) throws {
    #if os(Linux)
    guard mount("tmpfs", path, "tmpfs", 0, "size=65536") == 0 else {
      throw XCTSkip("A small disk to fill can be mounted by root only.")
    }
    self.path = path
    #else
    throw XCTSkip("A small disk to fill can be mounted on Linux only.")
    #endif
  }

  deinit {
    #if os(Linux)
    umount(path)
    #endif
  }
}

/// Makes this process an ordinary user until it goes, if it is root, who may
/// do everything.
package struct OrdinaryUser: ~Copyable {
  package static let identifier: UInt32 = 65534
  package static var isNeeded: Bool { getuid() == 0 }

  package init() {
    if Self.isNeeded { XCTAssertEqual(seteuid(Self.identifier), 0) }
  }

  deinit {
    if Self.isNeeded { XCTAssertEqual(seteuid(0), 0) }
  }
}

/// A limit of the process that a test lowers.
package struct ProcessLimit: ~Copyable {
  #if canImport(Glibc)
  private let resource: __rlimit_resource_t
  #else
  private let resource: CInt
  #endif
  private let before: rlimit

  /// Limits the size of files that the process writes, until this goes.
  package init(fileByteCount: Int) {
    #if canImport(Glibc)
    resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
    resource = CInt(RLIMIT_FSIZE)
    #endif
    var limit = rlimit()
    XCTAssertEqual(getrlimit(resource, &limit), 0)
    before = limit
    limit.rlim_cur = rlim_t(fileByteCount)
    XCTAssertEqual(setrlimit(resource, &limit), 0)
  }

  deinit {
    var limit = before
    setrlimit(resource, &limit)
  }
}
