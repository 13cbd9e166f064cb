package import Foundation

/// What a node of the catalog holds: its identifier and eleven fields.
package struct Product: Codable, Hashable, Sendable {
  package var identifier = ""
  package var title = ""
  package var subtitle = ""
  package var maker = ""
  package var note = ""
  package var stock = 0
  package var price = 0.0
  package var rating = 0.0
  package var isFavourite = false
  package var changed = Date(timeIntervalSinceReferenceDate: 0)
  package var digest = Data()
  package var recent: [Int] = []

  package init() {}
}

/// Products that belong together, as on one page.
package struct Section: Codable, Hashable, Sendable {
  package var identifier = ""
  package var products: [Product] = []
}
