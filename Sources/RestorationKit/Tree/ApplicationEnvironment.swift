#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import ArchiveCodec

/// The facts about the running application that every save carries.
public struct ApplicationEnvironment: Hashable, Sendable {
  /// The version of the application, nil if it has none.
  public let applicationVersion: String?

  /// The kind of interface, for example `terminal`.
  public let userInterfaceIdiom: String

  /// The version of the operating system.
  public var systemVersion: String { givenSystemVersion ?? Self.currentSystemVersion }
  private let givenSystemVersion: String?

  /// The name by which people know the machine, or the server process, for example
  /// `Anna’s laptop`; nil if states stay on the machine.
  ///
  /// Another machine that shares the state gets the name in a ``RemoteConflict``.
  public let deviceName: String?

  /// The start of the machine; nil if the system does not say.
  package var bootSession = BootSession.identifier

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
    givenSystemVersion = systemVersion
  }

  /// Asked by the first save, and kept: the system reads a file for each question.
  private static let currentSystemVersion = ProcessInfo.processInfo.operatingSystemVersionString

  func encode(with encoder: KeyedEncoder, timestamp: Date) {
    encoder.encode(applicationVersion, forKey: SaveFacts.Key.applicationVersion)
    encoder.encode(userInterfaceIdiom, forKey: SaveFacts.Key.userInterfaceIdiom)
    encoder.encode(systemVersion, forKey: SaveFacts.Key.systemVersion)
    encoder.encode(timestamp, forKey: SaveFacts.Key.timestamp)
    if let deviceName { encoder.encode(deviceName, forKey: SaveFacts.Key.deviceName) }
  }
}
