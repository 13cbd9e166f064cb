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
    #if canImport(Darwin)
    var bytes = [UInt8](repeating: 0, count: 64)
    var count = bytes.count
    guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else {
      return nil
    }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
    // A launch needs it, and the first use of a file manager takes longer than all else that it asks.
    do throws(ArchiveError) {
      guard let file = try OpenFile.existing("/proc/sys/kernel/random/boot_id") else { return nil }
      let bytes = try unsafe [UInt8](unsafeUninitializedCapacity: 64) {
        (buffer, count) throws(ArchiveError) in
        count = try unsafe file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      }
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      return nil
    }
    #endif
  }()
}
