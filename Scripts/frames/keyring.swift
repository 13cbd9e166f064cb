// An app with a keyring.

import RestorationKit
import RestorationSecretService
