internal import RestorationSharing
internal import RestorationTesting

extension RemoteStoreConformance {
  static let storing = [
    StoreCheck("nothingStoredIsNil", "Where nothing was stored, there is nothing.") {
      let store = try await $0()
      try await store.expectStored(nil, "In an empty store")
      let version = try await store.store(.sample(1), as: "other")
      try await store.expectStored(nil, "Beside another state")
      try await store.expectRefused(version, "Where nothing was stored,")
      try await store.expectStored(nil, "After writes that were refused")
    },
    StoreCheck("locationIsReadable", "The location says where the store is.") {
      let location = try await $0().location
      try expect(!location.isEmpty, "It was empty.")
      let again = try await $0().location
      try expect(again == location, "Opened again, it was another one.")
    },
    StoreCheck("bytesComeBack", "Bytes come back as they were, whatever they are.") {
      let store = try await $0()
      let contents: [[UInt8]] = [
        Array(0...255), [0], [255], Array("\\x00'\"%s\r\n\u{FEFF}".utf8), [0xC3, 0x28],
        .sample(1, count: (1 << 20) + 1),
      ]
      var version: RemoteVersion?
      for (number, bytes) in contents.enumerated() {
        let name = "state \(number)"
        let first = try await store.store(bytes, as: name)
        try await store.expectStored(bytes, at: first, as: name, "Stored first,")
        version = try require(
          try await store.replace(checkedName, with: bytes, expecting: version),
          "With the stored version, replace was refused.")
        try await store.expectStored(bytes, at: version, "As a replacement,")
      }
      for (number, bytes) in contents.enumerated() {
        try await $0().expectStored(bytes, as: "state \(number)", "Opened again,")
      }
    },
    StoreCheck(
      "firstReplaceStoresOnce", "A replacement of nothing stores once, and is refused after that."
    ) {
      let store = try await $0()
      let version = try await store.store(.sample(1))
      for bytes in [[UInt8].sample(1), .sample(2)] {
        let again = try await store.replace(checkedName, with: bytes, expecting: nil)
        try expect(again == nil, "It was not refused.")
        try await store.expectStored(.sample(1), at: version, "After one that was refused")
      }
    },
    StoreCheck(
      "writesNeedTheStoredVersion",
      "A write that expects another version than the stored one is refused and changes nothing."
    ) {
      let store = try await $0()
      let earlier = try await store.store(.sample(5), as: "other")
      let first = try await store.store(.sample(1))
      let later = try await store.update(earlier, of: "other", with: .sample(6))
      // If each name counts its versions for itself, the other name may have the same version.
      for strange in [earlier, later, RemoteVersion("made up")] where strange != first {
        try await store.expectRefused(strange, "With a version that the name never had,")
      }
      try await store.expectStored(.sample(1), at: first, "After writes that were refused")
      try await store.expectStored(.sample(6), at: later, as: "other", "Another state")
      let second = try await store.update(first, with: .sample(2))
      try await store.expectRefused(first, "With the first of two versions,")
      try await store.expectStored(.sample(2), at: second, "After writes that were refused")
      let third = try await store.extend(second, by: .sample(3))
      for old in [first, second] {
        try await store.expectRefused(old, "With an older version than that of append,")
      }
      try await store.expectStored(
        .sample(2) + .sample(3), at: third, "After writes that were refused")
    },
    StoreCheck(
      "versionsDiffer", "No version of a name comes twice, whatever is stored, and after a removal."
    ) {
      let store = try await $0()
      var versions: Set<RemoteVersion> = []
      for _ in 0..<10 {
        var version = try await store.store(.sample(1))
        for round in 0..<10 {
          try expect(versions.insert(version).inserted, "\(version) came twice.")
          try expect(
            version.name.utf8.count <= 255, "It had \(version.name.utf8.count) bytes.")
          version =
            round.isMultiple(of: 2)
            ? try await store.update(version, with: .sample(1))
            : try await store.extend(version, by: [1])
        }
        try expect(versions.insert(version).inserted, "\(version) came twice.")
        try await store.clear(version)
      }
    },
  ]

  static let appending = [
    StoreCheck("appendedIsAtTheEnd", "What is appended comes after the bytes that are stored.") {
      let store = try await $0()
      let first = try await store.store(.sample(1))
      let other = try await store.store(.sample(5), as: "other")
      let second = try await store.extend(first, by: Array(0...255))
      let third = try await store.extend(second, by: .sample(3, count: 100_000))
      let all = .sample(1) + Array(0...255) + .sample(3, count: 100_000)
      try await store.expectStored(all, at: third, "Afterwards")
      try await $0().expectStored(all, at: third, "Opened again,")
      try await store.expectStored(.sample(5), at: other, as: "other", "Another state")
      let fourth = try await store.update(third, with: .sample(6))
      let fifth = try await store.extend(fourth, by: .sample(7))
      try await store.expectStored(.sample(6) + .sample(7), at: fifth, "After a replacement")
    },
    StoreCheck("manyAppendsStayInOrder", "Two hundred appends are all there, in their order.") {
      let stores = [try await $0(), try await $0()]
      var all = [UInt8].sample(0)
      var version = try await stores[0].store(all)
      for number in 1...200 {
        let bytes = [UInt8].sample(number, count: number)
        version = try await stores[number % 2].extend(version, by: bytes)
        all += bytes
        if number.isMultiple(of: 50) {
          try await stores[0].expectStored(all, at: version, "After \(number) of them")
        }
      }
    },
    StoreCheck("appendMakesNoState", "Where nothing is stored, append is refused.") {
      let store = try await $0()
      let version = try await store.store(.sample(1))
      try await store.clear(version)
      let appended = try await store.append(.sample(2), to: checkedName, expecting: version)
      try expect(appended == nil, "After the state was removed, it was not.")
      try await store.expectStored(nil, "Afterwards")
    },
  ]

  static let removing = [
    StoreCheck("removeRemoves", "What is removed is gone, and its name with it.") {
      let store = try await $0()
      let version = try await store.store(.sample(1))
      let other = try await store.store(.sample(2), as: "other")
      try await store.clear(version)
      try await store.expectStored(nil, "Afterwards")
      try await $0().expectStored(nil, "Opened again,")
      try await store.expectNames(["other"], prefix: "", "Afterwards")
      try await store.expectStored(.sample(2), at: other, as: "other", "Another state")
      let isRemoved = try await store.remove(checkedName, expecting: version)
      try expect(!isRemoved, "Removed again, it was not refused.")
    },
    StoreCheck(
      "noOldVersionFits", "A name is free after a removal, and no version of before fits it again."
    ) {
      let store = try await $0()
      let first = try await store.store(.sample(1))
      let second = try await store.extend(first, by: .sample(2))
      try await store.clear(second)
      for round in 1...3 {
        // The same bytes are stored in the same steps, so that only the version differs.
        var version = try await store.store(.sample(1))
        for old in [first, second] {
          try await store.expectRefused(old, "Stored anew, with a version of before,")
        }
        version = try await store.extend(version, by: .sample(2))
        for old in [first, second] {
          try await store.expectRefused(old, "Appended anew, with a version of before,")
        }
        try await store.expectStored(
          .sample(1) + .sample(2), at: version, "Removed and stored anew \(round) times,")
        try await store.clear(version)
      }
    },
  ]
}
