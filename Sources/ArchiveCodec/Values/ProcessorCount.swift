#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The processors that there are.
package enum ProcessorCount {
  /// Asked for once: the system reads files to find it out, which takes longer than to read a
  /// small archive (benchmark: stores, restore of one scene).
  package static let value = ProcessInfo.processInfo.activeProcessorCount
}
