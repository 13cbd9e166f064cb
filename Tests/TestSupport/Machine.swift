#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif
import Foundation
import XCTest

/// A small disk, mounted over a directory, that a test can fill.
package struct SmallDisk: ~Copyable {
  private let path: String

  /// Skips the test where no disk can be mounted.
  package init(over path: String, byteCount: Int = 1 << 16) throws {
    #if os(Linux)
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(byteCount)") == 0 else {
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

#if os(Linux)
/// A file system of its own in a file, whose power a test can cut.
package final class ImageDisk {
  /// Where it is mounted.
  package let path: String
  private let image: String
  private var isMounted = false

  /// Skips the test where it cannot be made.
  package init(in directory: borrowing TemporaryDirectory) throws {
    image = directory.child("image")
    path = directory.child("disk")
    try Self.run("truncate", "--size=32M", image)
    try Self.run("mkfs.ext4", "-q", "-F", image)
    try Self.run("mkdir", path)
  }

  deinit {
    if isMounted { try? Self.run("umount", path) }
  }

  package func mount() throws {
    try Self.run("mount", "-o", "loop", image, path)
    isMounted = true
  }

  package func unmount() throws {
    try Self.run("umount", path)
    isMounted = false
  }

  /// Lets nothing reach the disk any more, of what is on its way neither.
  package func cutPower() throws {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    // FS_IOC_SHUTDOWN, without writing out the log.
    var flags: UInt32 = 2
    XCTAssertEqual(ioctl(descriptor, 0x8004_587D, &flags), 0)
  }

  private static func run(_ command: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    let output = Pipe()
    process.standardError = output
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw XCTSkip("\(command.joined(separator: " ")): \(String(decoding: said, as: UTF8.self))")
    }
  }
}
#endif

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
