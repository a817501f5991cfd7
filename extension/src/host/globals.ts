import { bare, getProperty, realWindow } from './primordials.ts';

/**
 * The global names that the code of a plugin has as its own variables (internal/jsbuild/extension.go writes them around
 * it). A script of a page that declares one of them, or replaces it on the window, changes it for the page alone.
 */
const names = [
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

/** builtIns holds the values of these names at document_start. */
export const builtIns = bare();
for (let i = 0; i < names.length; i++) {
  const name = names[i] ?? '';
  builtIns[name] = getProperty(realWindow, name);
}
