/// Names the launches between two tries of an element that crashed.
///
/// These launches leave the element out, so none of them decodes a state of it that one
/// of them has saved. The next of them may therefore replace that state, which is not
/// allowed for a state that crashed. See ``KeptState/leftOut``.
struct LeftOutPeriod: Hashable, Codable, Sendable {
  let number: UInt64

  /// A period that begins now.
  init() { number = .random(in: .min ... .max) }

  init(number: UInt64) { self.number = number }
}
