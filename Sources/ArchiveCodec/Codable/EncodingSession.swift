/// The state that all encoders of one Codable value share.
final class EncodingSession {
  let userInfo: [CodingUserInfoKey: any Sendable]
  private let forms = CodableForms()
  private var callDepth = 0
  /// Whether there are containers with bytes of their own, which may use any name.
  var hasNested = false

  init(userInfo: [CodingUserInfoKey: any Sendable]) {
    self.userInfo = userInfo
  }

  func form<Value>(of type: Value.Type) -> CodableForm { forms[type] }

  /// Runs one `encode(to:)`; values that nest too deeply are refused here,
  /// before the call stack runs out.
  func call(_ limits: ArchiveLimits, _ body: () throws -> Void) throws {
    guard callDepth < limits.callLimit else {
      throw ArchiveError(.limitExceeded, subject: "depth")
    }
    callDepth += 1
    defer { callDepth -= 1 }
    try body()
  }
}
