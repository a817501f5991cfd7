// The first module of a test's script: what a page has must be there before any other module is loaded.

import { installPlatform, openPage } from './page.ts';
import { step } from './runner.ts';

globalThis.__opentabsSimulated = true;
installPlatform();
openPage({});
Object.defineProperty(globalThis, '__opentabsStep', { value: step });
