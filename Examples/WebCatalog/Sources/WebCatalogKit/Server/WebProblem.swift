import Hummingbird

/// Why a request is not answered as it was meant, with a sentence for the user.
struct WebProblem: Error, Hashable, Sendable {
  let status: HTTPResponse.Status
  let sentence: String
  /// What operators are told besides, in the log: it may name servers and files.
  var detail: String?

  /// The same for a tab, a page and a link that are not there and for those of another user.
  static let notFound = WebProblem(
    status: .notFound, sentence: "There is nothing here, or it is not yours.")
  static let invalid = WebProblem(
    status: .unprocessableContent, sentence: "The browser sent something that this page does not.")
  static let forged = WebProblem(
    status: .forbidden, sentence: "This form is out of date. Go back, reload the page, try again.")
  static let otherSite = WebProblem(
    status: .forbidden,
    sentence: "Another site has led you here, which must not change a tab. Open it from your tabs.")
  static let tooLarge = WebProblem(
    status: .contentTooLarge, sentence: "That is more than this server takes.")
  static let linkUsed = WebProblem(
    status: .gone, sentence: "This link was used already, or its ten minutes are over.")
  static let tooManyTabs = WebProblem(
    status: .conflict,
    sentence: "You have \(Tabs.mostTabs) tabs, and there can be no more. Close one first.")
  static let tooManyLinks = WebProblem(
    status: .conflict,
    sentence:
      "You have \(Handovers.mostLinks) links that nobody has used. Use one of them, or wait ten minutes."
  )
  static let tooManyStreams = WebProblem(
    status: .tooManyRequests,
    sentence: "You have \(EventStreams.mostOfOneUser) pages open at this server. Close one first.")
  /// Browsers drop an answer with this status, and ask again when the user does.
  static let notAskedYet = WebProblem(
    status: .serviceUnavailable,
    sentence: "The browser has asked for this before you have. Follow the link to see it.")
  static let noPublicAddress = WebProblem(
    status: .serviceUnavailable,
    sentence: "This site does not know its address. Its operator starts it with --public-address.")
  static let signedOut = WebProblem(status: .unauthorized, sentence: "Sign in first.")
  static let wrongPassphrase = WebProblem(
    status: .unauthorized, sentence: "This is not the passphrase of that name.")
  static let badName = WebProblem(
    status: .unprocessableContent, sentence: "A name is 1 to 40 characters on one line.")
  static let noTitle = WebProblem(
    status: .unprocessableContent, sentence: "A product needs a title.")

  /// The page shows an editor that is not there any more.
  static let otherEditor = WebProblem(
    status: .conflict,
    sentence: "Another page of yours has ended this edit. Copy what you typed, and reload the page."
  )
  /// The page shows its user both, and tells its own again if they choose that.
  static let changedSince = WebProblem(
    status: .preconditionFailed,
    sentence: "Another page of yours has changed this since. Reload the page to see it.")
  static let unsavedWords = WebProblem(
    status: .conflict,
    sentence: "You have words for another product that are not saved. Save or leave them first.")

  /// A save failed; the user may try again.
  static func notStored(_ detail: String) -> WebProblem {
    WebProblem(
      status: .serviceUnavailable, sentence: "Not stored. Try again in a moment.", detail: detail)
  }

  /// The store does not answer.
  static func unreachable(_ detail: String) -> WebProblem {
    unavailable("What is stored cannot be reached. Try again in a moment.", detail)
  }

  static func unavailable(_ sentence: String, _ detail: String? = nil) -> WebProblem {
    WebProblem(status: .serviceUnavailable, sentence: sentence, detail: detail)
  }
}
