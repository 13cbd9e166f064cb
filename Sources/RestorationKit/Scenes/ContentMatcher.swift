/// Says which content a scene takes; it can be stored, and asked without the app.
///
/// Content is compared as text without regard to case and diacritics. `*` takes
/// everything, and an empty text is never taken.
public struct ContentMatcher: Hashable, Codable, Sendable, ExpressibleByArrayLiteral {
  /// The texts that are taken as they are.
  public let texts: Set<String>

  /// The beginnings of texts that are taken.
  public let prefixes: Set<String>

  /// Creates a matcher.
  ///
  /// - Parameters:
  ///   - texts: The texts that are taken; `*` takes all.
  ///   - prefixes: The beginnings of texts that are taken.
  public init(_ texts: Set<String>, prefixes: Set<String> = []) {
    self.texts = texts
    self.prefixes = prefixes
  }

  /// Creates a matcher of texts.
  public init(arrayLiteral elements: String...) {
    self.init(Set(elements))
  }

  /// Takes everything.
  public static let all: ContentMatcher = ["*"]

  /// Takes nothing.
  public static let none: ContentMatcher = []

  /// A matcher that takes what one of the two takes.
  ///
  /// - Parameter other: The other.
  /// - Returns: A matcher of both.
  public func union(_ other: ContentMatcher) -> ContentMatcher {
    ContentMatcher(texts.union(other.texts), prefixes: prefixes.union(other.prefixes))
  }

  /// Whether the matcher takes at least one of some texts.
  ///
  /// - Parameter content: The ways to name the content.
  /// - Returns: Whether at least one of them is taken.
  /// - Complexity: O(*n*) in the bytes of all texts.
  public func matches(_ content: [String]) -> Bool {
    let content = content.filter { !$0.isEmpty }.map(\.folded)
    guard !content.isEmpty else { return false }
    if texts.contains("*") { return true }
    let texts = Set(texts.filter { !$0.isEmpty }.map(\.folded))
    if content.contains(where: texts.contains) { return true }
    let prefixes = prefixes.filter { !$0.isEmpty }.map(\.folded)
    return content.contains { text in prefixes.contains { text.hasPrefix($0) } }
  }
}
