#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The number of processors.
package enum ProcessorCount {
  /// Read once: the system reads files for the answer, which takes longer than reading
  /// a small archive (benchmark: stores, restore of one scene).
  package static let value = ProcessInfo.processInfo.activeProcessorCount
}
