// The probe runs in the isolated world before each host. A document whose Window
// may be an older page's gets a frame with fresh built-ins, which the hosts
// compare theirs with (host/intact.ts); the bridge takes it away again.

import { addProbeFrame } from './frame.ts';

addProbeFrame();
