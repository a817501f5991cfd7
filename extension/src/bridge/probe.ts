// In each document, the probe script runs in the isolated world before any host starts. If a document may share the
// Window of an older page, the probe script adds a frame with fresh built-in functions. Each host compares its built-in
// functions with those of the added frame (host/intact.ts). The bridge then removes the frame.

import { addProbeFrame } from './frame.ts';

addProbeFrame();
