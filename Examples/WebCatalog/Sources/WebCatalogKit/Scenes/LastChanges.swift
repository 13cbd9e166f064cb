import CatalogModel

/// What pages, links and forms change in a tab, each for itself.
enum TabValue: String, CaseIterable {
  case search, listScroll, listWidth, detailScroll, editorScroll, title, description, focus
}

/// Who has changed each value of a tab last.
///
/// It is stored with what was changed, so any server knows what comes late: a message that a
/// stopped server held up, or one that a network or a proxy brings again.
struct LastChanges: Codable, Hashable, Sendable {
  private struct Change: Codable, Hashable {
    /// Empty for a link or a form, which any page may have.
    let page: String
    /// Of the message of the page.
    let number: Int
    /// The revision of the tab with this change.
    let revision: Int
  }

  enum Order {
    /// No change is newer.
    case newest
    /// The page has told this or something later, and knows it.
    case toldLater
    /// Somebody else has changed the value, and the user had not seen that when the page sent its
    /// message.
    case changedSince
  }

  private var changes: [String: Change] = [:]

  /// Notes that a message changes a value, if that is the newest change.
  ///
  /// What is told again as it was is noted, too: an older message must not replace it.
  mutating func note(_ value: TabValue, by message: TabChange, revision: Int) -> Order {
    if let last = changes[value.rawValue] {
      if last.page == message.page {
        guard last.number < message.number else { return .toldLater }
      } else {
        guard last.revision <= message.seenRevision(of: value) else { return .changedSince }
      }
    }
    changes[value.rawValue] = Change(
      page: message.page, number: message.number, revision: revision)
    return .newest
  }

  /// Notes what a link or a form has changed.
  mutating func note(_ values: [TabValue], revision: Int) {
    for value in values {
      changes[value.rawValue] = Change(page: "", number: 0, revision: revision)
    }
  }
}

extension TabContent {
  /// The values that are others here.
  func values(otherThanIn content: TabContent) -> [TabValue] {
    TabValue.allCases.filter { self[$0] != content[$0] }
  }

  private subscript(value: TabValue) -> AnyHashable? {
    switch value {
    case .search: list.search
    case .listScroll: list.scroll
    case .listWidth: window.listWidth
    case .detailScroll: detail.scroll
    case .editorScroll: editor?.scroll
    case .title: editor?.words.title
    case .description: editor?.words.description
    case .focus: window.focus
    }
  }
}
