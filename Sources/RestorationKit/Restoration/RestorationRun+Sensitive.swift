internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Values with a sensitivity, which lie beside the state of a record.
extension RestorationRun {
  /// Tells saves since when the values that are back are stored, and with which subkeys.
  func rememberAges() {
    if let opened = application?.opened { remember(opened, of: nil, .application) }
    for (index, opened) in prepared.opened where outcomes[index].isDecodable {
      guard let object = restored.object(at: index) else { continue }
      let element = ElementID(
        kind: tree.outline.rows[index].kind, path: tree.outline.path(of: index))
      remember(opened, of: object, element)
    }
  }

  private func remember(
    _ opened: OpenedValues, of object: (any StateRestoring)?, _ element: ElementID
  ) {
    // The object may be elsewhere in the first save, and older states have its
    // secrets under these subkeys.
    if let object, !opened.subkeys.isEmpty { objects.setSubkeys(opened.subkeys, of: object) }
    let known = opened.aged.map {
      ($0.keys, ValueAges.Known(fingerprint: $0.fingerprint, since: $0.since))
    }
    guard !known.isEmpty else { return }
    objects.ages.set(
      Dictionary(known, uniquingKeysWith: { first, _ in first }), of: object, at: element,
      clock: clock)
  }
}
