import { getProperty, makeBareObject, realWindow } from './primordials.ts';

/**
 * protectedNames are the names of globals that internal/jsbuild/extension.go declares as local variables in the code of
 * a plugin. If a script of the page replaces a protected global, the plugin's code still uses the original value.
 */
const protectedNames = [
  'Object',
  'Function',
  'Array',
  'String',
  'Number',
  'Boolean',
  'Symbol',
  'BigInt',
  'RegExp',
  'Date',
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'WeakRef',
  'Promise',
  'Proxy',
  'Reflect',
  'JSON',
  'Math',
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'URL',
  'URLSearchParams',
  'AbortController',
  'AbortSignal',
  'DOMException',
  'TextEncoder',
  'TextDecoder',
  'structuredClone',
  'queueMicrotask',
  'atob',
  'btoa',
  'parseInt',
  'parseFloat',
  'isNaN',
  'isFinite',
  'encodeURI',
  'encodeURIComponent',
  'decodeURI',
  'decodeURIComponent',
];

/** builtIns contains the values of the protected globals at document_start. */
export const builtIns = makeBareObject();
for (let i = 0; i < protectedNames.length; i++) {
  const name = protectedNames[i] ?? '';
  builtIns[name] = getProperty(realWindow, name);
}
