internal import RestorationSharing
internal import RestorationTesting

extension RemoteStoreConformance {
  /// Names of states, and names that an app may choose.
  ///
  /// Some names differ only when bytes are compared: in upper case, in the spelling of
  /// a character, by a space at the end, as patterns of SQL.
  private static let names = [
    "main", "Main", "main ", " main", "main2", "main~2", "main.scene-7d4b8f9e", "main.scenes",
    "Größe", "Gro\u{308}ße", "e", "e\u{301}", "é", "写真", "👩🏽‍🚀", "\u{FEFF}main",
    "%", "_", "\\", "a%b", "a_b", "axb", "a\\b", "a\\\\b", "'", "\"", "a'b", "a\"b", "`", "$1",
    "?", "*", ";--", "/", "a/b", "a/../b", "..", ".", "-", "a b", "a+b", "%61", "&amp;", "null",
    "0", "00", String(repeating: "n", count: 254), String(repeating: "n", count: 255),
    String(repeating: "n", count: 254) + "m", String(repeating: "ö", count: 127) + "n",
  ]

  static let naming = [
    StoreCheck("everyNameIsAPlace", "Every name has a state of its own, told apart by its bytes.") {
      let store = try await $0()
      var versions: [RemoteVersion] = []
      for (number, name) in names.enumerated() {
        try await store.expectStored(nil, as: name, "Before it was stored, “\(name)”:")
        versions.append(try await store.store(.sample(number), as: name))
      }
      for (number, name) in names.enumerated() {
        try await store.expectStored(
          .sample(number), at: versions[number], as: name, "Of all, “\(name)”:")
      }
      try await store.expectNames(names, prefix: "", "Of all,")
      for (number, name) in names.enumerated() where number.isMultiple(of: 2) {
        try await store.clear(versions[number], of: name)
      }
      for (number, name) in names.enumerated() {
        let left: [UInt8]? = number.isMultiple(of: 2) ? nil : .sample(number)
        try await store.expectStored(left, as: name, "With half of them removed, “\(name)”:")
      }
    },
    StoreCheck("prefixesAreBytes", "Names are found by the bytes that they begin with.") {
      let store = try await $0()
      try await store.expectNames([], prefix: "", "In an empty store")
      for (number, name) in names.enumerated() {
        _ = try await store.store(.sample(number), as: name)
      }
      let prefixes = names + ["m", "ma", "a", "a%", "a_", "nothing", "main.s", "%%", "__", "Gr"]
      for prefix in prefixes {
        let expected = names.filter { $0.utf8.starts(with: prefix.utf8) }
        try await store.expectNames(expected, prefix: prefix, "For “\(prefix)”")
      }
    },
    StoreCheck("allNamesAreListed", "All names are listed, however many there are.") { open in
      let stores = try await openEight(open)
      // More names than the thousand that services list in one page.
      let shares = stores.indices.map { share in (0..<128).map { "state \(share) \($0)" } }
      let versions = try await atOnce(stores) { number, store in
        var versions: [RemoteVersion] = []
        for name in shares[number] { versions.append(try await store.store([1], as: name)) }
        return versions
      }
      let all = shares.flatMap(\.self)
      try await stores[0].expectNames(all, prefix: "", "Of \(all.count) names")
      try await stores[0].expectNames(shares[7], prefix: "state 7", "Of \(all.count) names")
      _ = try await atOnce(stores) { number, store in
        for (name, version) in zip(shares[number], versions[number]) {
          try await store.clear(version, of: name)
        }
      }
      try await stores[0].expectNames([], prefix: "", "After all of them were removed")
    },
    StoreCheck("namesAreIndependent", "Nobody is disturbed by writes to other names.") { open in
      let stores = try await openEight(open)
      // Short calls seldom meet, so there are more of them.
      let end = ContinuousClock.now + .milliseconds(100)
      _ = try await atOnce(stores) { number, store in
        let (name, part) = ("state \(number)", [UInt8].sample(number))
        var isLast = false
        var round = 0
        while !isLast {
          round += 1
          isLast = round >= 10 && ContinuousClock.now > end
          let first = try await store.store(.sample(round), as: name)
          let second = try await store.update(first, of: name, with: part)
          let third = try await store.extend(second, of: name, by: part)
          try await store.expectStored(part + part, at: third, as: name, "With others at work,")
          if !isLast || number.isMultiple(of: 2) { try await store.clear(third, of: name) }
        }
      }
      for number in stores.indices {
        let left = number.isMultiple(of: 2) ? nil : [UInt8].sample(number) + .sample(number)
        try await stores[0].expectStored(left, as: "state \(number)", "After the others’ writes")
      }
    },
  ]
}

extension RemoteStateStore {
  /// Ends the check if the store has other names.
  ///
  /// Names are compared by their bytes.
  func expectNames(_ expected: [String], prefix: String, _ moment: String) async throws {
    let found = try await names(prefix: prefix)
    let (foundBytes, expectedBytes) = (
      Set(found.map { Array($0.utf8) }), Set(expected.map { Array($0.utf8) })
    )
    try expect(foundBytes.count == found.count, "\(moment) a name was listed twice.")
    for name in expected {
      try expect(foundBytes.contains(Array(name.utf8)), "\(moment) “\(name)” was not listed.")
    }
    for name in found {
      try expect(expectedBytes.contains(Array(name.utf8)), "\(moment) “\(name)” was listed.")
    }
  }
}
