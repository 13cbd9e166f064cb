// What a file of tests in XCTest imports.

import Foundation
import RestorationKit
import RestorationTesting
import XCTest

@testable import Notes
