import CatalogModel
import Foundation

/// What a page tells of its user: only what has changed, each value whole.
///
/// So a change that comes twice does no harm, and one that was made to an older content fits a
/// newer one, too.
struct TabChange: Decodable, Hashable, Sendable {
  /// The page that tells it: another one for each time that a browser loads it.
  var page: String
  /// Counts the messages of the page.
  ///
  /// A later one has all that the page was not told is stored.
  var number: Int

  var search: String?
  var listScroll: Double?
  var listWidth: Double?
  var detailScroll: Double?
  var editorScroll: Double?
  /// The product of the editor that the page shows.
  var product: UUID?
  var title: String?
  var description: String?
  var focus: Focus?

  private static let longestName = 64
  static let longestLine = 200
  static let longestText = 20_000
  private static let largestNumber = 1_000_000.0

  /// Throws if the page of this server cannot have sent it.
  func check() throws(WebProblem) {
    guard page.utf8.count <= Self.longestName, number >= 0 else { throw .invalid }
    for offset in [listScroll, listWidth, detailScroll, editorScroll] {
      guard (0...Self.largestNumber).contains(offset ?? 0) else { throw .invalid }
    }
    for line in [search, title] {
      guard Self.isText(line ?? "", upTo: Self.longestLine) else { throw .invalid }
    }
    guard Self.isText(description ?? "", upTo: Self.longestText) else { throw .invalid }
    if let focus { guard 0 <= focus.start, focus.start <= focus.end else { throw .invalid } }
  }

  /// Whether a text is not too long, in UTF-16 code units as browsers count, and has no control
  /// characters but tabs and ends of lines.
  static func isText(_ text: String, upTo limit: Int) -> Bool {
    text.utf16.count <= limit
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || "\n\t" ~= $0 }
  }

  /// Changes what a tab shows; one that comes late has nothing that a later one does not have.
  ///
  /// - Throws: `otherEditor` for words of an editor that is not there, before anything is changed.
  func apply(to content: inout TabContent) throws(WebProblem) {
    var changed = content
    guard changed.window.lastMessages.note(number, of: page) else { return }
    if title != nil || description != nil {
      try changed.type(title: title, description: description, of: product)
    }
    if let editorScroll, changed.editor?.product == product {
      changed.editor?.scroll = editorScroll
    }
    content = changed
    if let search { content.list.search = search }
    if let listScroll { content.list.scroll = listScroll }
    if let listWidth { content.window.listWidth = listWidth }
    if let detailScroll { content.detail.scroll = detailScroll }
    if let focus { content.window.focus = focus.field == .elsewhere ? nil : focus }
  }
}

/// The last message of each page that told something.
///
/// It is stored with what the message changed, so any server knows what comes late.
struct LastMessages: Codable, Hashable, Sendable {
  private struct Message: Codable, Hashable {
    let page: String
    let number: Int
  }

  private static let limit = 8

  /// The newest one is the last.
  private var messages: [Message] = []

  /// Notes a message; false if that one or a later one of its page was noted before.
  mutating func note(_ number: Int, of page: String) -> Bool {
    if let index = messages.firstIndex(where: { $0.page == page }) {
      guard messages[index].number < number else { return false }
      messages.remove(at: index)
    }
    messages.append(Message(page: page, number: number))
    messages.removeFirst(max(messages.count - Self.limit, 0))
    return true
  }
}

extension String {
  fileprivate static func ~= (characters: String, scalar: Unicode.Scalar) -> Bool {
    characters.unicodeScalars.contains(scalar)
  }
}
