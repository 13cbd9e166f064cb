/// Names the launches between two tries of an element that crashed.
///
/// They leave it out, so what one of them saves of it is decoded by none of them: the next one may
/// replace that, which is not so for a state that crashed. See ``KeptState/leftOut``.
struct LeftOutPeriod: Hashable, Codable, Sendable {
  let number: UInt64

  /// One that begins.
  init() { number = .random(in: .min ... .max) }

  init(number: UInt64) { self.number = number }
}
