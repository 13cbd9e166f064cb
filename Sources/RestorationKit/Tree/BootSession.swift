internal import ArchiveCodec
internal import RestorationLibc

/// The time from a start of the machine to its end.
enum BootSession {
  /// How long the machine has run, in seconds, by a clock that nobody can set.
  static var uptime: Double {
    #if canImport(Darwin)
    let clock = CLOCK_MONOTONIC
    #else
    let clock = CLOCK_BOOTTIME
    #endif
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Tells the session from all others; nil where the system does not say.
  static let identifier: String? = {
    var bytes = [UInt8](repeating: 0, count: 64)
    #if canImport(Darwin)
    var count = bytes.count
    let isKnown = unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0
    #else
    // A launch needs it, and the first use of a file manager takes longer than all else that it asks.
    let file = try? OpenFile.existing("/proc/sys/kernel/random/boot_id")
    let count = try? unsafe bytes.withUnsafeMutableBytes { try unsafe file?.read(into: $0, at: 0) }
    let isKnown = count != nil
    #endif
    return isKnown ? String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) : nil
  }()
}
