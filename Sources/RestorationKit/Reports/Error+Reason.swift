internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Error {
  /// The words for the error in a report.
  ///
  /// Reports are printed and sent, and an error may hold text that a user typed. So an
  /// error appears with the description that its author chose for it. Any other error
  /// appears with its type and its case, and a Codable error with the place and the type.
  package var reason: String {
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
    // Words for debugging are not chosen for reports. The compiler believes that any
    // Error conforms to CustomDebugStringConvertible, but not that Any does.
    let hasWords = (self as Any) is any CustomDebugStringConvertible
    guard mirror.displayStyle == .enum, !hasWords else { return "\(type(of: self))" }
    // An enum without a description prints only the name of a case without values.
    return "\(type(of: self)).\(mirror.children.first?.label ?? "\(self)")"
  }
}

extension String {
  /// The text without the user info that an error of Foundation prints after its domain
  /// and code: the user info names files.
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
    // Stops here: a chain of causes may be of any length.
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
