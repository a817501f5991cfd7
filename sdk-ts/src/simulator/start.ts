// The first module of each test bundle, which installs the browser globals before any other module loads.

import { readRealTimeoutMs } from './mode.ts';
import { clock, installPlatform, openPage } from './page.ts';
import { receiveLine } from './real.ts';
import { runStep } from './runner.ts';

globalThis.__opentabsSimulated = true;
if (readRealTimeoutMs() > 0) clock.followSystemTime();
installPlatform();
openPage({});
Object.defineProperty(globalThis, '__opentabsStep', { value: runStep });
Object.defineProperty(globalThis, '__opentabsReceive', { value: receiveLine });
