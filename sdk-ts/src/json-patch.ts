import type { PatchOperation } from './context.ts';
import { pristinely } from './runtime/pristine.ts';
import { isBag } from './runtime/value.ts';

/**
 * Applies a JSON Patch (RFC 6902) to a copy of a JSON value and returns the copy. Throws an Error that names the first
 * operation that does not apply.
 */
export function applyPatch(before: unknown, patch: readonly PatchOperation[]): unknown {
  return pristinely(() => {
    const root: Root = { value: structuredClone(before) };
    patch.forEach((operation, index) => {
      try {
        apply(root, operation);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`operation ${index} (${operation.op} ${JSON.stringify(operation.path)}): ${reason}`);
      }
    });
    return root.value;
  });
}

/** Contains the document, so that an operation can also replace the whole document. */
interface Root {
  value: unknown;
}

function apply(root: Root, operation: PatchOperation): void {
  const at = tokens(operation.path);
  switch (operation.op) {
    case 'add':
      add(root, at, structuredClone(operation.value));
      return;
    case 'remove':
      remove(root, at);
      return;
    case 'replace':
      read(root, at);
      replace(root, at, structuredClone(operation.value));
      return;
    case 'copy':
      add(root, at, structuredClone(read(root, tokens(operation.from))));
      return;
    case 'move':
      if (operation.path.startsWith(`${operation.from}/`)) throw new Error('a value cannot be moved into itself');
      add(root, at, remove(root, tokens(operation.from)));
      return;
    case 'test':
      if (!equal(read(root, at), operation.value)) throw new Error('the value differs');
      return;
    default:
      throw new Error('unknown operation');
  }
}

/** Splits a JSON Pointer into its unescaped tokens. */
function tokens(pointer: string): string[] {
  if (pointer === '') return [];
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw new Error('a path must be empty or begin with /');
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function read(root: Root, at: readonly string[]): unknown {
  let value = root.value;
  for (const token of at) {
    if (Array.isArray(value)) value = value[indexIn(value, token, value.length - 1)];
    else value = objectWith(value, token)[token];
  }
  return value;
}

/** Returns the parent of the value at a path that is not empty, and its key there. */
function parentOf(root: Root, at: readonly string[]): { parent: unknown; key: string } {
  return { parent: read(root, at.slice(0, -1)), key: at.at(-1) ?? '' };
}

function add(root: Root, at: readonly string[], value: unknown): void {
  if (at.length === 0) {
    root.value = value;
    return;
  }
  const { parent, key } = parentOf(root, at);
  if (Array.isArray(parent)) parent.splice(key === '-' ? parent.length : indexIn(parent, key, parent.length), 0, value);
  else set(objectOf(parent), key, value);
}

function replace(root: Root, at: readonly string[], value: unknown): void {
  if (at.length === 0) {
    root.value = value;
    return;
  }
  const { parent, key } = parentOf(root, at);
  if (Array.isArray(parent)) parent[indexIn(parent, key, parent.length - 1)] = value;
  else set(objectOf(parent), key, value);
}

function remove(root: Root, at: readonly string[]): unknown {
  if (at.length === 0) throw new Error('the whole document cannot be removed; replace it');
  const { parent, key } = parentOf(root, at);
  if (Array.isArray(parent)) return parent.splice(indexIn(parent, key, parent.length - 1), 1)[0];
  const holder = objectWith(parent, key);
  const value = holder[key];
  delete holder[key];
  return value;
}

/** Sets a member. The key may be __proto__. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function objectOf(value: unknown): Record<string, unknown> {
  if (!isBag(value) || Array.isArray(value))
    throw new Error('the path leads through a value that is not an object or array');
  return value;
}

function objectWith(value: unknown, key: string): Record<string, unknown> {
  const object = objectOf(value);
  if (!Object.hasOwn(object, key)) throw new Error(`no member ${JSON.stringify(key)}`);
  return object;
}

function indexIn(list: readonly unknown[], token: string, last: number): number {
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index > last) throw new Error(`no element ${token} in an array of ${list.length}`);
  return index;
}

/** Compares JSON values. */
function equal(a: unknown, b: unknown): boolean {
  if (!isBag(a) || !isBag(b)) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}
