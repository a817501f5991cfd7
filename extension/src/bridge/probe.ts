// The probe runs in the isolated world before each host. If a document may share the Window of an older page, the probe
// adds a frame with fresh built-ins. Each host compares its built-ins with the built-ins of the added frame
// (host/intact.ts), and the bridge removes the frame.

import { addProbeFrame } from './frame.ts';

addProbeFrame();
