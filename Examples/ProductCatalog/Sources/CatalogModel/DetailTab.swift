/// The tabs of a product's screen.
public enum DetailTab: String, CaseIterable, Hashable, Sendable, Codable {
  case info, details, related

  public var title: String {
    switch self {
    case .info: "Info"
    case .details: "Details"
    case .related: "Related"
    }
  }
}
