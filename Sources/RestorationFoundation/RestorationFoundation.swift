// The part of Foundation that a module may import: all of it brings ICU, 50 MB of a program that is linked
// statically. A module that imports this one internally passes on nothing of it.

#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
