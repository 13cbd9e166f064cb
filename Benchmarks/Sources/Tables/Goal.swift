/// What a ratio must be, and so what it means.
package enum Goal {
  /// At least so many times better than the peer: the ratio is peer to ours.
  case atLeast(Double)

  /// At most so many times the peer: the ratio is ours to peer.
  case atMost(Double)

  /// For orientation: the ratio is peer to ours, and nothing can be missed.
  case none

  package func ratio(ours: Double, peer: Double) -> Double {
    switch self {
    case .atLeast, .none: peer / ours
    case .atMost: ours / peer
    }
  }

  package func isMet(_ ratio: Double) -> Bool {
    switch self {
    case .atLeast(let bound): ratio >= bound
    case .atMost(let bound): ratio <= bound
    case .none: true
    }
  }

  package var text: String {
    switch self {
    case .atLeast(let bound): "≥ \(bound.asNumber)×"
    case .atMost(let bound): "≤ \(bound.asNumber)×"
    case .none: "none"
    }
  }
}
