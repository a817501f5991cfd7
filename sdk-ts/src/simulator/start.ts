// The first module of each test bundle, which installs the browser globals before any other module loads.

import { readRealTimeoutMs } from './mode.ts';
import { clock, installPlatform, openPage } from './page.ts';
import { receiveProtocolLine } from './real.ts';
import { runTestStep } from './runner.ts';

globalThis.__opentabsSimulated = true;
if (readRealTimeoutMs() > 0) clock.followSystemTime();
installPlatform();
openPage({});
Object.defineProperty(globalThis, '__opentabsStep', { value: runTestStep });
Object.defineProperty(globalThis, '__opentabsReceive', { value: receiveProtocolLine });
