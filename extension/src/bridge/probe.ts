// The probe runs in the isolated world before each host. If a document may share the Window of an older page, the probe
// adds a frame with fresh built-ins. The hosts compare their built-ins with those of the frame (host/intact.ts), and
// the bridge removes the frame.

import { addProbeFrame } from './frame.ts';

addProbeFrame();
