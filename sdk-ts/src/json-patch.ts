import type { PatchOperation } from './context.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';
import { hasProperties } from './runtime/value.ts';

/**
 * Applies a JSON Patch (RFC 6902) to a copy of a JSON value and returns the copy. Throws an Error that names the first
 * operation that does not apply.
 */
export function applyPatch(before: unknown, patch: readonly PatchOperation[]): unknown {
  return withPristineBuiltIns(() => {
    const root: PatchedDocument = { value: structuredClone(before) };
    patch.forEach((operation, index) => {
      try {
        applyOperation(root, operation);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`operation ${index} (${operation.op} ${JSON.stringify(operation.path)}): ${reason}`);
      }
    });
    return root.value;
  });
}

/** An object that contains the document, so that an operation can also replace the whole document. */
interface PatchedDocument {
  value: unknown;
}

function applyOperation(root: PatchedDocument, operation: PatchOperation): void {
  const at = splitPointer(operation.path);
  switch (operation.op) {
    case 'add':
      addValue(root, at, structuredClone(operation.value));
      return;
    case 'remove':
      removeValue(root, at);
      return;
    case 'replace':
      readValue(root, at);
      replaceValue(root, at, structuredClone(operation.value));
      return;
    case 'copy':
      addValue(root, at, structuredClone(readValue(root, splitPointer(operation.from))));
      return;
    case 'move':
      if (operation.path.startsWith(`${operation.from}/`)) throw new Error('a value cannot be moved into itself');
      addValue(root, at, removeValue(root, splitPointer(operation.from)));
      return;
    case 'test':
      if (!isEqual(readValue(root, at), operation.value)) throw new Error('the value differs');
      return;
    default:
      throw new Error('unknown operation');
  }
}

/** Splits a JSON Pointer into its unescaped tokens. */
function splitPointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw new Error('a path must be empty or begin with /');
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function readValue(root: PatchedDocument, at: readonly string[]): unknown {
  let value = root.value;
  for (const token of at) {
    if (Array.isArray(value)) value = value[parseIndex(value, token, value.length - 1)];
    else value = requireMember(value, token)[token];
  }
  return value;
}

/** Returns the parent of the value at a path that is not empty, and its key there. */
function findParent(root: PatchedDocument, at: readonly string[]): { parent: unknown; key: string } {
  return { parent: readValue(root, at.slice(0, -1)), key: at.at(-1) ?? '' };
}

function addValue(root: PatchedDocument, at: readonly string[], value: unknown): void {
  if (at.length === 0) {
    root.value = value;
    return;
  }
  const { parent, key } = findParent(root, at);
  if (Array.isArray(parent))
    parent.splice(key === '-' ? parent.length : parseIndex(parent, key, parent.length), 0, value);
  else setMember(requireObject(parent), key, value);
}

function replaceValue(root: PatchedDocument, at: readonly string[], value: unknown): void {
  if (at.length === 0) {
    root.value = value;
    return;
  }
  const { parent, key } = findParent(root, at);
  if (Array.isArray(parent)) parent[parseIndex(parent, key, parent.length - 1)] = value;
  else setMember(requireObject(parent), key, value);
}

function removeValue(root: PatchedDocument, at: readonly string[]): unknown {
  if (at.length === 0) throw new Error('the whole document cannot be removed; replace it');
  const { parent, key } = findParent(root, at);
  if (Array.isArray(parent)) return parent.splice(parseIndex(parent, key, parent.length - 1), 1)[0];
  const parentObject = requireMember(parent, key);
  const value = parentObject[key];
  delete parentObject[key];
  return value;
}

/** Sets a member. The member is defined, not assigned, because the key may be `__proto__`. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function requireObject(value: unknown): Record<string, unknown> {
  if (!hasProperties(value) || Array.isArray(value))
    throw new Error('the path leads through a value that is not an object or array');
  return value;
}

function requireMember(value: unknown, key: string): Record<string, unknown> {
  const object = requireObject(value);
  if (!Object.hasOwn(object, key)) throw new Error(`no member ${JSON.stringify(key)}`);
  return object;
}

function parseIndex(list: readonly unknown[], token: string, last: number): number {
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index > last) throw new Error(`no element ${token} in an array of ${list.length}`);
  return index;
}

/** Compares JSON values. */
function isEqual(a: unknown, b: unknown): boolean {
  if (!hasProperties(a) || !hasProperties(b)) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}
