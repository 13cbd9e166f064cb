internal import CSodium

/// Keyed BLAKE2b with a salt and a personalization, as libsodium 1.0.18 has it.
///
/// Each use has a label of its own, so no output of one use can stand for that
/// of another, even for equal inputs.
enum KeyDerivation: String, Sendable {
  case checksum = "RKA1 checksum"
  case context = "RKA1 context"
  case slot = "RKA1 slot"
  case keyCheck = "RKA1 key check"
  case fileKeys = "RKA1 file keys"
  case headerMAC = "RKA1 header MAC"
  case genesis = "RKA1 genesis"
  case chainKeys = "RKA1 chain keys"
  case salt = "RKA1 salt"
  case commitKey = "RKA1 commit key"
  case chainMAC = "RKA1 chain MAC"
  // Labels for keys that are sealed under other keys.
  case sealedKey = "RKA1 sealed key"
  case hiddenName = "RKA1 hidden name"
  // A label for files beside an archive that are not secret.
  case noteTag = "RKA1 note tag"
  // A label for a record that is sealed alone.
  case sealedRecord = "RKA1 sealed rec"

  static let saltByteCount = 16
  static let keyByteCount = 32

  /// Fills `count` bytes, at most 64, which may be secret memory.
  ///
  /// The key has 32 bytes; without a key the function is a plain hash.
  func derive(
    into output: UnsafeMutableRawPointer, count: Int, key: UnsafeRawPointer?,
    salt: [UInt8] = zeroSalt, input: Span<UInt8>
  ) {
    precondition(salt.count == Self.saltByteCount)
    let status = unsafe input.withUnsafeBufferPointer { input in
      unsafe label.span.withUnsafeBufferPointer { label in
        unsafe crypto_generichash_blake2b_salt_personal(
          output, count, input.baseAddress, UInt64(input.count), key,
          key == nil ? 0 : Self.keyByteCount, salt, label.baseAddress)
      }
    }
    precondition(status == 0)
  }

  /// The personalization, with zeros behind it.
  private var label: InlineArray<16, UInt8> {
    let name = rawValue
    let bytes = name.utf8.span
    return InlineArray { $0 < bytes.count ? bytes[$0] : 0 }
  }

  /// Derives bytes that are not secret: a MAC, a salt, a check.
  func derivePublic(
    count: Int, key: UnsafeRawPointer?, salt: [UInt8] = zeroSalt, input: Span<UInt8>
  ) -> [UInt8] {
    var output = [UInt8](zeros: count)
    unsafe derive(into: &output, count: count, key: key, salt: salt, input: input)
    return output
  }

  static let zeroSalt = [UInt8](zeros: saltByteCount)

  /// Hashes without a key.
  func hash(_ input: Span<UInt8>) -> [UInt8] {
    unsafe derivePublic(count: 32, key: nil, input: input)
  }
}
