// The first module of a test's script: what a page has must be there before any other module is loaded.

import { realMs } from './mode.ts';
import { clock, installPlatform, openPage } from './page.ts';
import { hear } from './real.ts';
import { step } from './runner.ts';

globalThis.__opentabsSimulated = true;
if (realMs() > 0) clock.follow();
installPlatform();
openPage({});
Object.defineProperty(globalThis, '__opentabsStep', { value: step });
Object.defineProperty(globalThis, '__opentabsHear', { value: hear });
