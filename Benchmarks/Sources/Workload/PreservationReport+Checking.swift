internal import RestorationKit

extension PreservationReport {
  /// What the fields of a product take, in bytes; on average, and before encryption.
  private static let productByteCount = 184

  /// Throws unless the save has written all products, whether they had changed or not.
  func checkHasWrittenAll(productCount: Int) throws {
    guard outcome == .saved, setAside == nil, unaskedCount == 0 else {
      throw WorkloadError(description)
    }
    guard writtenByteCount == byteCount, byteCount >= productCount * Self.productByteCount else {
      throw WorkloadError("\(writtenByteCount) bytes are not all of \(productCount) products")
    }
  }
}
