import { fakeAtob } from './encoding.ts';

// Defines atob where the engine has none.
if (!('atob' in globalThis)) Reflect.set(globalThis, 'atob', fakeAtob);
