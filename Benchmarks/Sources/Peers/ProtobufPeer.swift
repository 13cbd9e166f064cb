internal import Crypto
internal import Foundation
internal import SwiftProtobuf
package import Workload

/// swift-protobuf messages of the same fields, sealed as the JSON is.
///
/// The messages exist before the clock starts, which is to their advantage.
package final class ProtobufPeer {
  private let message: ProtoCatalog
  private let key = SymmetricKey(size: .bits256)
  private var sealed = Data()

  package init(_ catalog: Catalog) {
    message = ProtoCatalog(catalog)
  }

  package func encodeAndSeal() throws {
    let plain: [UInt8] = try message.serializedBytes()
    sealed = try ChaChaPoly.seal(plain, using: key).combined
  }

  package func openAndDecode() throws -> ProtoCatalog {
    let plain = try ChaChaPoly.open(try ChaChaPoly.SealedBox(combined: sealed), using: key)
    return try ProtoCatalog(serializedBytes: plain)
  }
}
