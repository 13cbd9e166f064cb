// What a file of an app imports.

import Foundation
import Observation
import RestorationKit
