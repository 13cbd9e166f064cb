// What a file of tests imports.

import Foundation
import RestorationKit
import RestorationTesting
import Testing

@testable import Notes
