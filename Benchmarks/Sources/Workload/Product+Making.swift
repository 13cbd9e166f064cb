internal import Foundation

extension Product {
  private static let kinds = ["Stoneware teapot", "Oak side table", "Brass reading lamp"]
  private static let colours = ["celadon green", "smoked grey", "warm white", "deep blue"]
  private static let makers = ["Aalto & Daughters", "Hinode", "Werkstatt Nord"]
  private static let notes = ["Ask for a matching tray", "Back in stock in May", "Fragile"]

  init(number: Int, random: inout SplitMix64) {
    identifier = "product-\(number)"
    title = "\(Self.pick(from: Self.kinds, &random)) \(number)"
    subtitle = "in \(Self.pick(from: Self.colours, &random))"
    maker = Self.pick(from: Self.makers, &random)
    note = Self.pick(from: Self.notes, &random)
    stock = .random(in: 0..<5_000, using: &random)
    price = Double(Int.random(in: 100..<50_000, using: &random)) / 100
    rating = Double(Int.random(in: 10...50, using: &random)) / 10
    isFavourite = .random(using: &random)
    changed = Date(
      timeIntervalSinceReferenceDate:
        Double(Int.random(in: 700_000_000_000..<800_000_000_000, using: &random)) / 1_000)
    digest = Data((0..<32).map { _ in .random(in: .min ... .max, using: &random) })
    recent = (0..<5).map { _ in .random(in: 0..<10_000, using: &random) }
  }

  private static func pick(from choices: [String], _ random: inout SplitMix64) -> String {
    choices[Int.random(in: choices.indices, using: &random)]
  }
}
