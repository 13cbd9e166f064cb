#if canImport(Darwin)
internal import Darwin
#elseif canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The time from a start of the machine to its end.
enum BootSession {
  /// Tells the session from all others; nil where the system does not say.
  static let identifier: String? = {
    #if canImport(Darwin)
    var bytes = [UInt8](repeating: 0, count: 64)
    var count = bytes.count
    guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else {
      return nil
    }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
    FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
      .map { String(decoding: $0, as: UTF8.self) }
    #endif
  }()
}
