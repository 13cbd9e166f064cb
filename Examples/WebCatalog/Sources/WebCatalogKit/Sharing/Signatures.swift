import ArchiveCodec
import Crypto
import Foundation
import RestorationKit
import RestorationSharing

/// Signs what goes through browsers, and names entries without saying whose they are.
///
/// Its key is random, and stored sealed under one of the servers' own, as the state of a user is.
struct Signatures: Sendable {
  private let key: SymmetricKey

  private static let entry = "web.signatures"
  private static let owner = "the servers"
  private static let context = ArchiveContext([Scenes.application, "signatures"])

  /// Takes the key from the store, or makes it.
  static func shared(
    in store: any RemoteStateStore, keys: UserKeys
  ) async throws -> Signatures {
    let provider = try await keys.provider(for: owner)
    guard let key = try provider.key(creating: false) else {
      throw StartProblem("The key of the servers is missing.")
    }
    while true {
      if let stored = try await store.load(entry) {
        return Signatures(key: try open(stored.bytes, key))
      }
      let new = SymmetricKey(size: .bits256)
      let bytes = new.withUnsafeBytes { Data($0) }
      let sealed = try ArchiveEncoder().encode(bytes, key: key, context: context)
      // If another server was first, its key counts.
      if try await store.replace(entry, with: sealed, expecting: nil) != nil {
        return Signatures(key: new)
      }
    }
  }

  private static func open(_ sealed: [UInt8], _ key: ArchiveKey) throws -> SymmetricKey {
    do {
      return SymmetricKey(
        data: try ArchiveDecoder().decode(Data.self, from: sealed, key: key, context: context))
    } catch {
      throw StartProblem("“\(entry)” in the store cannot be read. \(error)")
    }
  }

  /// What only the servers can make of a text, as 64 hexadecimal digits.
  func sign(_ purpose: Purpose, _ text: String) -> String {
    Hex.text(HMAC<SHA256>.authenticationCode(for: purpose.bytes(of: text), using: key))
  }

  /// Whether a signature is right; takes as long for each wrong one.
  func isValid(_ signature: String, _ purpose: Purpose, _ text: String) -> Bool {
    guard let code = Hex.bytes(signature) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(
      code, authenticating: purpose.bytes(of: text), using: key)
  }

  /// What is signed; a signature for one purpose is none for another.
  enum Purpose: String {
    case session, form, user

    func bytes(of text: String) -> Data { Data("\(rawValue)\n\(text)".utf8) }
  }
}

/// Why the server cannot start, in a sentence.
public struct StartProblem: Error, CustomStringConvertible {
  /// The sentence.
  public let description: String

  init(_ sentence: String) {
    description = sentence
  }
}

enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The bytes of lower-case digits; nil for anything else.
  static func bytes(_ text: String) -> [UInt8]? {
    let values = text.utf8.map(digits.firstIndex)
    guard values.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: values.count, by: 2) {
      guard let high = values[place], let low = values[place + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}

/// 128 random bits that nobody can guess, as 32 hexadecimal digits.
struct RandomName: Hashable, Sendable, Codable, CustomStringConvertible {
  let description: String

  init() {
    var generator = SystemRandomNumberGenerator()
    description = Hex.text((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  /// Takes what a request names; nil if it cannot be one.
  init?(_ text: String?) {
    guard let text, text.utf8.count == 32, Hex.bytes(text) != nil else { return nil }
    description = text
  }
}
