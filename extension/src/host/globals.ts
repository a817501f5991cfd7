import { getProperty, makeBareObject, realWindow } from './primordials.ts';

/**
 * protectedBuiltInNames are the names of globals that internal/jsbuild/extension.go declares as local variables in the
 * code of a plugin. If a script of the page replaces a protected global, the plugin's code still uses the original
 * value.
 */
const protectedBuiltInNames = [
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

/** protectedBuiltIns contains the values of the protected globals at document_start. */
export const protectedBuiltIns = makeBareObject();
for (let i = 0; i < protectedBuiltInNames.length; i++) {
  const name = protectedBuiltInNames[i] ?? '';
  protectedBuiltIns[name] = getProperty(realWindow, name);
}
