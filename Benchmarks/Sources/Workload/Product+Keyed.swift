package import ArchiveCodec

extension Product {
  package func encode(with encoder: KeyedEncoder) {
    encoder.encode(identifier, forKey: "identifier")
    encoder.encode(title, forKey: "title")
    encoder.encode(subtitle, forKey: "subtitle")
    encoder.encode(maker, forKey: "maker")
    encoder.encode(note, forKey: "note")
    encoder.encode(stock, forKey: "stock")
    encoder.encode(price, forKey: "price")
    encoder.encode(rating, forKey: "rating")
    encoder.encode(isFavourite, forKey: "isFavourite")
    encoder.encode(changed, forKey: "changed")
    encoder.encode(digest, forKey: "digest")
    encoder.encode(recent, forKey: "recent")
  }

  init(from decoder: KeyedDecoder) throws {
    identifier = try decoder.decode(forKey: "identifier")
    title = try decoder.decode(forKey: "title")
    subtitle = try decoder.decode(forKey: "subtitle")
    maker = try decoder.decode(forKey: "maker")
    note = try decoder.decode(forKey: "note")
    stock = try decoder.decode(forKey: "stock")
    price = try decoder.decode(forKey: "price")
    rating = try decoder.decode(forKey: "rating")
    isFavourite = try decoder.decode(forKey: "isFavourite")
    changed = try decoder.decode(forKey: "changed")
    digest = try decoder.decode(forKey: "digest")
    recent = try decoder.decode(forKey: "recent")
  }
}
