/// The tabs of a product's screen.
public enum DetailTab: String, CaseIterable, Hashable, Sendable, Codable {
  case info, details, related

  /// What the user reads on the tab.
  public var title: String {
    switch self {
    case .info: "Info"
    case .details: "Details"
    case .related: "Related"
    }
  }
}
