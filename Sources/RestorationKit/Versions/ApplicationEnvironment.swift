internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationLibc

/// The facts about the running application that every save carries.
public struct ApplicationEnvironment: Hashable, Sendable {
  /// The version of the application, nil if it has none.
  public internal(set) var applicationVersion: String?

  /// The kind of interface, for example `terminal`.
  public let userInterfaceIdiom: String

  /// The version of the operating system.
  public var systemVersion: String { system.version }
  private let system: System

  /// The operating system, which is asked for its version when somebody needs that: the first save.
  private struct System: Hashable {
    let given: String?

    var version: String { given ?? Self.current }

    /// Kept, since the system reads a file for each question.
    private static let current = ProcessInfo.processInfo.operatingSystemVersionString

    static func == (left: System, right: System) -> Bool { left.version == right.version }

    func hash(into hasher: inout Hasher) { hasher.combine(version) }
  }

  /// The name by which people know the machine, or the server process, for example
  /// `Anna’s laptop`; nil if states stay on the machine.
  ///
  /// Another machine that shares the state gets the name when both have changed it.
  public let deviceName: String?

  /// The start of the machine; nil if the system does not say.
  package var bootSession = BootSession.identifier

  /// How long the machine has run, in seconds; nil asks the system.
  package var uptime: Double?

  /// Creates an environment.
  ///
  /// - Parameters:
  ///   - applicationVersion: The version of the application.
  ///   - userInterfaceIdiom: The kind of interface.
  ///   - systemVersion: The version of the operating system; the system is asked if
  ///     nil.
  ///   - deviceName: The name by which people know the machine.
  public init(
    applicationVersion: String? = nil, userInterfaceIdiom: String = "unspecified",
    systemVersion: String? = nil, deviceName: String? = nil
  ) {
    self.deviceName = deviceName
    self.applicationVersion = applicationVersion
    self.userInterfaceIdiom = userInterfaceIdiom
    system = System(given: systemVersion)
  }
}

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
