import Foundation
import RestorationKit
import XCTest

final class FoldingTests: XCTestCase {
  func testEveryScalarIsFoldedAsFoundationDoes() {
    for scalar in Self.scalars { assertFolded(String(scalar)) }
  }

  func testEveryMarkBehindALetterIsFoldedAsFoundationDoes() {
    let letters = [
      "a", "Z", "1", " ", "\u{e9}", "e\u{301}", "\u{df}", "\u{fb01}", "\u{3b1}", "\u{1f84}",
      "\u{436}", "\u{50f}", "\u{510}", "\u{514}", "\u{5d0}", "\u{628}", "\u{915}", "\u{304b}",
      "\u{304c}",
      "\u{ac01}", "\u{4e2d}", "\u{1f600}", "\u{1e01}", "\u{130}", "",
    ]
    for scalar in Self.scalars where scalar.isMark {
      for letter in letters { assertFolded(letter + String(scalar)) }
    }
  }

  func testTextsAreFoldedAsFoundationDoes() {
    for text in [
      "", "ASCII only", "\u{c9}ditions", "E\u{301}DITIONS", "Stra\u{df}e", "\u{130}stanbul",
      "\u{1fe}\u{301}", "\u{3a3}\u{391}\u{3a3}", "\u{439}\u{438}\u{306}",
      "\u{fb03}x\u{301}\u{302}\u{303}",
      "\u{1d160}",
    ] { assertFolded(text) }
  }

  private func assertFolded(_ text: String, file: StaticString = #filePath, line: UInt = #line) {
    // In lowercase, since Foundation leaves marks on some capitals and not on their small letters.
    let expected = text.lowercased().folding(
      options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    guard text.folded != expected else { return }
    func codes(_ text: String) -> [String] {
      text.unicodeScalars.map { String($0.value, radix: 16) }
    }
    XCTFail("\(codes(text)): \(codes(text.folded)), not \(codes(expected))", file: file, line: line)
  }

  /// The scalars of Unicode 15: what later versions have added Foundation may not know.
  private static let scalars: [Unicode.Scalar] = (0..<0x11_0000 as Range<UInt32>).compactMap {
    number in
    guard let scalar = Unicode.Scalar(number) else { return nil }
    return (scalar.properties.age?.major ?? .max) <= 15 ? scalar : nil
  }
}

extension Unicode.Scalar {
  fileprivate var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }
}
