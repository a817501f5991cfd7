import { fakeAtob } from './encoding.ts';

// Defines the global function `atob` if the JavaScript engine lacks it, as QuickJS does.
if (!('atob' in globalThis)) Reflect.set(globalThis, 'atob', fakeAtob);
