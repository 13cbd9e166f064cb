internal import RestorationFoundation

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
