/// The keys of a file that do not depend on its slots, from its data key and
/// the bytes of its header.
struct FileKeys {
  private let head: [UInt8]
  private let headerKey: [UInt8]
  private let rootKey: [UInt8]
  private let chainKey: [UInt8]
  private let saltKey: [UInt8]

  init(dataKey: [UInt8], header: [UInt8], context: [String]) {
    head = header[40..<112] + [header[8], header[24], header[25]] + header[12..<16]
    let keys = Derivation.derive(
      "RKA1 file keys", key: dataKey, salt: Array(header[56..<72]),
      head + Derivation.context(context), count: 64)
    (headerKey, rootKey) = (Array(keys[..<32]), Array(keys[32...]))
    let chainKeys = Derivation.derive("RKA1 chain keys", key: rootKey, head, count: 64)
    (chainKey, saltKey) = (Array(chainKeys[..<32]), Array(chainKeys[32...]))
  }

  /// Takes the header without its MAC and with zeros for the checksum.
  func headerMAC(_ header: [UInt8]) -> [UInt8] {
    Derivation.derive("RKA1 header MAC", key: headerKey, header)
  }

  /// MAC 0, with which the chain begins.
  var genesis: [UInt8] { Derivation.derive("RKA1 genesis", key: rootKey, head) }

  func salt(random: [UInt8], previousMAC: [UInt8], generation: UInt64, witness: [UInt8]) -> [UInt8]
  {
    Derivation.derive(
      "RKA1 salt", key: saltKey,
      random + previousMAC + ModelValue.little(generation, count: 8) + witness, count: 16)
  }

  /// Takes the generation and the flags of the commit header.
  func commitKey(
    salt: [UInt8], generation: UInt64, flags: UInt32, previousMAC: [UInt8]
  ) -> [UInt8] {
    Derivation.derive(
      "RKA1 commit key", key: rootKey, salt: salt,
      ModelValue.little(generation, count: 8) + ModelValue.little(UInt64(flags), count: 4)
        + previousMAC)
  }

  func chainMAC(
    salt: [UInt8], header: [UInt8], trailer: [UInt8], previousMAC: [UInt8]
  ) -> [UInt8] {
    Derivation.derive("RKA1 chain MAC", key: chainKey, salt: salt, header + trailer + previousMAC)
  }
}
