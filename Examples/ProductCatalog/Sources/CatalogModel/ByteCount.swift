/// A number of bytes, written for a reader.
struct ByteCount: CustomStringConvertible {
  private let bytes: Double

  init(bytes: Int) {
    self.bytes = Double(bytes)
  }

  init(kibibytes: Int) {
    bytes = Double(kibibytes) * 1024
  }

  var description: String {
    var amount = bytes / 1024
    var unit = "KiB"
    for larger in ["MiB", "GiB", "TiB"] where amount >= 1024 {
      amount /= 1024
      unit = larger
    }
    return "\((amount * 10).rounded() / 10) \(unit)"
  }
}
