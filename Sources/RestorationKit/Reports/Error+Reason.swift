internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Error {
  /// What a report says of the error.
  ///
  /// Reports are printed and sent, and an error may hold what a user typed. So
  /// it is the words that the error has for itself, which somebody chose; of any
  /// other its type and its case, and of a Codable error the place and the type.
  var reason: String {
    switch self {
    case let error as EncodingError: error.place
    case let error as DecodingError: error.place
    case let error as any CustomStringConvertible: error.description.withoutUserInfo
    case let error as any LocalizedError: error.errorDescription ?? typeAndCase
    default: typeAndCase
    }
  }

  private var typeAndCase: String {
    let mirror = Mirror(reflecting: self)
    // Words for debugging are not chosen for reports. The compiler takes any Error
    // for one that has some, but not Any.
    let hasWords = (self as Any) is any CustomDebugStringConvertible
    guard mirror.displayStyle == .enum, !hasWords else { return "\(type(of: self))" }
    // A case without values is all that an enum prints of itself.
    return "\(type(of: self)).\(mirror.children.first?.label ?? "\(self)")"
  }
}

extension String {
  /// Without what an error of Foundation adds to its domain and code, which names
  /// files.
  fileprivate var withoutUserInfo: String {
    guard hasPrefix("Error Domain=") else { return self }
    let domainAndCode = prefix { $0 != "\"" }
    return String(domainAndCode.last == " " ? domainAndCode.dropLast() : domainAndCode)
  }
}

extension EncodingError {
  fileprivate var place: String {
    guard case .invalidValue(let value, let context) = self else { return "EncodingError" }
    return "A \(type(of: value)) cannot be encoded\(Self.place(context.codingPath))."
      + Self.cause(context.underlyingError)
  }

  fileprivate static func place(_ path: [any CodingKey]) -> String {
    path.isEmpty ? "" : " at \(path.map(\.stringValue).joined(separator: "/"))"
  }

  fileprivate static func cause(_ error: (any Error)?) -> String {
    switch error {
    // A chain of causes may be of any length.
    case nil, is EncodingError, is DecodingError: ""
    case .some(let error): " \(error.reason)"
    }
  }
}

extension DecodingError {
  fileprivate var place: String {
    switch self {
    case .keyNotFound(let key, let context):
      "There is no value\(EncodingError.place(context.codingPath + [key]))."
    case .valueNotFound(let type, let context):
      "A \(type) is missing\(EncodingError.place(context.codingPath))."
        + EncodingError.cause(context.underlyingError)
    case .typeMismatch(let type, let context):
      "There is no \(type)\(EncodingError.place(context.codingPath))."
        + EncodingError.cause(context.underlyingError)
    case .dataCorrupted(let context):
      "The value\(EncodingError.place(context.codingPath)) cannot be decoded."
        + EncodingError.cause(context.underlyingError)
    @unknown default: "DecodingError"
    }
  }
}
