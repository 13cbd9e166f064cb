/// What the library does for a class beyond what its objects encode: the common part of
/// ``RestorableStack``, ``RestorableSplit``, ``RestorableTabs``, ``RestorableList``, ``RestorableScrolling``,
/// ``RestorableTextSelection``, ``StatefulRestoring`` and ``RestorableScreen``.
///
/// Conform to one of these and not to this protocol alone, which has no effect.
public protocol RestorationAbility: StateRestoring {}
