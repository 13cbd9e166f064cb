import CatalogModel
import Foundation

/// What a page tells of its user: only what has changed, each value whole.
///
/// So a change that comes twice does no harm, and one that was made to an older content fits a
/// newer one, too, except for the values that another page has changed since.
struct TabChange: Decodable, Hashable, Sendable {
  /// The page that tells it: another one for each time that a browser loads it.
  var page: String
  /// Counts the messages of the page.
  ///
  /// A later one has all that the page was not told is stored.
  var number: Int
  /// The revision of the tab that the user has seen, apart from what the page itself has told.
  var revision: Int
  /// The revision that the user has seen of a value, by its name, where that is another one than
  /// `revision`.
  var seen: [String: Int]?

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
    // The empty name is that of links and forms.
    guard (1...Self.longestName).contains(page.utf8.count), number >= 0, revision >= 0 else {
      throw .invalid
    }
    for (name, revision) in seen ?? [:] {
      guard TabValue(rawValue: name) != nil, revision >= 0 else { throw .invalid }
    }
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

  /// The revision of a value that the user had seen when the page sent this.
  func seenRevision(of value: TabValue) -> Int { seen?[value.rawValue] ?? revision }

  /// Changes what a tab shows, but nothing that is newer than this.
  ///
  /// - Returns: What was not taken, since another page has changed it since.
  /// - Throws: `otherEditor` for words of an editor that is not there, before anything is changed.
  func apply(to content: inout TabContent) throws(WebProblem) -> [TabValue] {
    var (changed, refused) = (content, [TabValue]())
    let revision = content.window.revision + 1
    func isNewest(_ value: TabValue) -> Bool {
      switch changed.window.changes.note(value, by: self, revision: revision) {
      case .newest: return true
      case .toldLater: return false
      case .changedSince:
        refused.append(value)
        return false
      }
    }
    if title != nil || description != nil {
      guard let product, changed.editor?.product == product else { throw .otherEditor }
    }
    if let title, isNewest(.title) { changed.editor?.words.title = title }
    if let description, isNewest(.description) { changed.editor?.words.description = description }
    if let editorScroll, changed.editor?.product == product, isNewest(.editorScroll) {
      changed.editor?.scroll = editorScroll
    }
    if let search, isNewest(.search) { changed.list.search = search }
    if let listScroll, isNewest(.listScroll) { changed.list.scroll = listScroll }
    if let listWidth, isNewest(.listWidth) { changed.window.listWidth = listWidth }
    if let detailScroll, isNewest(.detailScroll) { changed.detail.scroll = detailScroll }
    if let focus, isNewest(.focus) {
      changed.window.focus = focus.field == .elsewhere ? nil : focus
    }
    content = changed
    return refused
  }
}

extension String {
  fileprivate static func ~= (characters: String, scalar: Unicode.Scalar) -> Bool {
    characters.unicodeScalars.contains(scalar)
  }
}
