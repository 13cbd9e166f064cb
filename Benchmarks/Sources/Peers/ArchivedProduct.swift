internal import Foundation
internal import Workload

/// A product as NSKeyedArchiver wants it.
final class ArchivedProduct: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }

  private let product: Product

  init(_ product: Product) {
    self.product = product
  }

  func encode(with coder: NSCoder) {
    coder.encode(product.identifier as NSString, forKey: "identifier")
    coder.encode(product.title as NSString, forKey: "title")
    coder.encode(product.subtitle as NSString, forKey: "subtitle")
    coder.encode(product.maker as NSString, forKey: "maker")
    coder.encode(product.note as NSString, forKey: "note")
    coder.encode(product.stock, forKey: "stock")
    coder.encode(product.price, forKey: "price")
    coder.encode(product.rating, forKey: "rating")
    coder.encode(product.isFavourite, forKey: "isFavourite")
    coder.encode(product.changed as NSDate, forKey: "changed")
    coder.encode(product.digest as NSData, forKey: "digest")
    coder.encode(NSArray(array: product.recent.map { NSNumber(value: $0) }), forKey: "recent")
  }

  init?(coder: NSCoder) {
    func object<Object: NSObject & NSSecureCoding>(_ type: Object.Type, _ key: String) -> Object? {
      coder.decodeObject(of: type, forKey: key)
    }
    guard let identifier = object(NSString.self, "identifier"),
      let title = object(NSString.self, "title"),
      let subtitle = object(NSString.self, "subtitle"),
      let maker = object(NSString.self, "maker"),
      let note = object(NSString.self, "note"),
      let changed = object(NSDate.self, "changed"),
      let digest = object(NSData.self, "digest"),
      let recent = coder.decodeObject(
        of: [NSArray.self, NSNumber.self], forKey: "recent") as? [Int]
    else { return nil }
    var product = Product()
    product.identifier = String(identifier)
    product.title = String(title)
    product.subtitle = String(subtitle)
    product.maker = String(maker)
    product.note = String(note)
    product.stock = coder.decodeInteger(forKey: "stock")
    product.price = coder.decodeDouble(forKey: "price")
    product.rating = coder.decodeDouble(forKey: "rating")
    product.isFavourite = coder.decodeBool(forKey: "isFavourite")
    product.changed = changed as Date
    product.digest = digest as Data
    product.recent = recent
    self.product = product
  }
}
