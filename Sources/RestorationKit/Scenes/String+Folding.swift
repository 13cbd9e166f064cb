extension String {
  /// The text without case and diacritics; texts that differ only in these have the same one.
  ///
  /// It is what `folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)` of Foundation
  /// gives for the text in lowercase, compared as Swift compares texts, without regard to how a
  /// character is composed. No part of Foundation that does without ICU has that call, and ICU is 44 MB
  /// of a program that is linked statically.
  ///
  /// - Complexity: O(*n*) in the bytes of the text.
  package var folded: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
    var result = ""
    for scalar in unicodeScalars {
      for lower in scalar.properties.lowercaseMapping.unicodeScalars
      where !lower.isDiacritic(on: result.unicodeScalars.last) {
        if let base = FoldedLetters.bases[lower] {
          result += base
        } else {
          result.unicodeScalars.append(lower)
        }
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is a mark that two texts may differ in, behind a letter.
  ///
  /// Marks of Latin, Greek and Cyrillic are; others only on letters of these scripts, since they are
  /// letters of their own elsewhere.
  fileprivate func isDiacritic(on base: Unicode.Scalar?) -> Bool {
    guard let base, value >= 0x300 else { return false }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: break
    default: return false
    }
    return base.value < 0x510 || 0x300...0x36F ~= value || 0x483...0x489 ~= value
  }
}

private enum FoldedLetters {
  /// The letters whose lowercase form has another base, and that base.
  static let bases: [Unicode.Scalar: String] = {
    var bases: [Unicode.Scalar: String] = [:]
    for (base, letters) in groups {
      for letter in letters.unicodeScalars { bases[letter] = base }
    }
    return bases
  }()

  /// The bases, each with its letters.
  ///
  /// A letter stands as an escape if an editor would compose it anew.
  private static let groups: [(String, String)] = [
    ("<", "≮"),
    ("=", "≠"),
    (">", "≯"),
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("aʾ", "ẚ"),
    ("b", "ḃḅḇ"),
    ("c", "çćĉċčḉ"),
    ("d", "ďḋḍḏḑḓ"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ḟ"),
    ("ff", "ﬀ"),
    ("ffi", "ﬃ"),
    ("ffl", "ﬄ"),
    ("fi", "ﬁ"),
    ("fl", "ﬂ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįǐȉȋḭḯỉị"),
    ("j", "ĵǰ"),
    ("k", "ķǩḱḳḵ"),
    ("l", "ĺļľḷḹḻḽ"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňǹṅṇṉṋ"),
    ("o", "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšſșṡṣṥṧṩẛ"),
    ("ss", "ß"),
    ("st", "ﬅﬆ"),
    ("t", "ţťțṫṭṯṱẗ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
    ("¨", "΅῁῭\u{1fee}"), ("\u{308}", "\u{344}"),
    ("æ", "ǣǽ"),
    ("ø", "ǿ"),
    ("ʒ", "ǯ"),
    ("ʼn", "ŉ"),
    ("α", "άἀἁἂἃἄἅἆἇὰ\u{1f71}ᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"),
    ("β", "ϐ"),
    ("ε", "έϵἐἑἒἓἔἕὲ\u{1f73}"),
    ("η", "ήἠἡἢἣἤἥἦἧὴ\u{1f75}ᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"),
    ("θ", "ϑ"),
    ("ι", "\u{345}ΐίϊἰἱἲἳἴἵἶἷὶ\u{1f77}ῐῑῒ\u{1fd3}ῖῗ"),
    ("κ", "ϰ"),
    ("μ", "µ"),
    ("ο", "όὀὁὂὃὄὅὸ\u{1f79}"),
    ("π", "ϖ"),
    ("ρ", "ϱῤῥ"),
    ("σ", "ς"),
    ("υ", "ΰϋύὐὑὒὓὔὕὖὗὺ\u{1f7b}ῠῡῢ\u{1fe3}ῦῧ"),
    ("φ", "ϕ"),
    ("ω", "ώὠὡὢὣὤὥὦὧὼ\u{1f7d}ᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"),
    ("ϒ", "ϓϔ"),
    ("а", "ӑӓ"),
    ("г", "ѓ"),
    ("е", "ѐёӗ"),
    ("ж", "ӂӝ"),
    ("з", "ӟ"),
    ("и", "йѝӣӥ"),
    ("к", "ќ"),
    ("о", "ӧ"),
    ("у", "ўӯӱӳ"),
    ("ч", "ӵ"),
    ("ы", "ӹ"),
    ("э", "ӭ"),
    ("і", "ї"),
    ("ѵ", "ѷ"),
    ("ә", "ӛ"),
    ("ө", "ӫ"),
    ("եւ", "և"),
    ("մե", "ﬔ"),
    ("մի", "ﬕ"),
    ("մխ", "ﬗ"),
    ("մն", "ﬓ"),
    ("վն", "ﬖ"),
  ]
}
