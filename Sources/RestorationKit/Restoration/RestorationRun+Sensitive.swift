internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Values with a sensitivity, which lie beside the state of a record.
extension RestorationRun {
  /// Lets saves know since when the values are stored that are back, and with which
  /// subkeys.
  func rememberAges() {
    if let opened = application?.opened {
      remember(opened, of: nil, ValueAges.Place(kind: .application, path: RestorationPath()))
    }
    for (place, opened) in prepared.opened where outcomes[place].isDecodable {
      guard let object = restored.object(at: place) else { continue }
      remember(
        opened, of: object,
        ValueAges.Place(
          kind: tree.outline.rows[place].kind, path: tree.outline.path(of: place)))
    }
  }

  private func remember(
    _ opened: OpenedValues, of object: (any StateRestoring)?, _ place: ValueAges.Place
  ) {
    // It may be elsewhere in the first save, and what is older has its secrets under these.
    if let object, !opened.subkeys.isEmpty { objects.setSubkeys(opened.subkeys, of: object) }
    let known = opened.aged.map {
      ($0.keys, ValueAges.Known(fingerprint: $0.fingerprint, since: $0.since))
    }
    guard !known.isEmpty else { return }
    objects.ages.set(
      Dictionary(known, uniquingKeysWith: { first, _ in first }), of: object, at: place,
      clock: clock)
  }
}
