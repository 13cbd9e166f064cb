/// The tabs of a product's screen.
package enum DetailTab: String, CaseIterable, Hashable, Sendable, Codable {
  case info, details, related

  var title: String {
    switch self {
    case .info: "Info"
    case .details: "Details"
    case .related: "Related"
    }
  }
}
