internal import Tables

/// How far the numbers of one run can be trusted.
struct Noise {
  private var spreads: [(what: String, spread: Double)] = []
  private var wall = 0.0
  private var processor = 0.0

  mutating func add(_ what: String, _ ratios: [Double], _ samples: [Sample]) {
    spreads.append((what, (ratios.quantile(0.75) - ratios.quantile(0.25)) / ratios.median))
    wall += samples.reduce(0) { $0 + $1.wall }
    processor += samples.reduce(0) { $0 + $1.processor }
  }

  /// The share of the time in which something else had the processor.
  private var waiting: Double { max(0, 1 - processor / wall) }

  private var noisy: [String] {
    spreads.filter { $0.spread > 0.1 }.map { "\n  \($0.what): \(percent($0.spread))" }
  }

  var description: String {
    """
    Noise: the middle half of the rounds of a row spreads over \(percent(typicalSpread)) of its \
    ratio, as the median of all rows; for \(percent(waiting)) of the time others had the processor.
    """ + (noisy.isEmpty ? "" : "\nRows that spread over more than 10 %, so repeat what is close:")
      + noisy.joined()
  }

  private var typicalSpread: Double { spreads.isEmpty ? 0 : spreads.map(\.spread).median }

  private func percent(_ share: Double) -> String { "\((share * 100).asNumber) %" }
}
