// In each document, the probe script runs in the isolated world before any host starts. If the document possibly shares
// the Window of an older page, the probe script adds a frame with fresh built-in functions. Each host compares its
// built-in functions with those of the probe frame (host/intact.ts), and the bridge then removes the probe frame.

import { addProbeFrame } from './frame.ts';

addProbeFrame();
