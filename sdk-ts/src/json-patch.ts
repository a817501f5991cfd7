import type { PatchOperation } from './context.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';
import { hasProperties } from './runtime/value.ts';

/** applyPatch changes only a copy of the value, and throws an Error that names the first operation that failed. */
export function applyPatch(originalDocument: unknown, patch: readonly PatchOperation[]): unknown {
  return withPristineBuiltIns(() => {
    const root: PatchedDocument = { value: structuredClone(originalDocument) };
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

/** The wrapper around the patched JSON document lets an operation replace the whole document. */
interface PatchedDocument {
  value: unknown;
}

function applyOperation(root: PatchedDocument, operation: PatchOperation): void {
  const tokens = splitPointer(operation.path);
  switch (operation.op) {
    case 'add':
      addValue(root, tokens, structuredClone(operation.value));
      return;
    case 'remove':
      removeValue(root, tokens);
      return;
    case 'replace':
      readValue(root, tokens);
      replaceValue(root, tokens, structuredClone(operation.value));
      return;
    case 'copy':
      addValue(root, tokens, structuredClone(readValue(root, splitPointer(operation.from))));
      return;
    case 'move':
      if (operation.path.startsWith(`${operation.from}/`)) throw new Error('a value cannot be moved into itself');
      addValue(root, tokens, removeValue(root, splitPointer(operation.from)));
      return;
    case 'test':
      if (!isEqual(readValue(root, tokens), operation.value)) throw new Error('the value differs');
      return;
    default:
      throw new Error('unknown operation');
  }
}

function splitPointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw new Error('a path must be empty or begin with /');
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function readValue(root: PatchedDocument, tokens: readonly string[]): unknown {
  let value = root.value;
  for (const token of tokens) {
    if (Array.isArray(value)) value = value[parseIndex(value, token, value.length - 1)];
    else value = requireMember(value, token)[token];
  }
  return value;
}

function findParent(root: PatchedDocument, tokens: readonly string[]): { parent: unknown; key: string } {
  return { parent: readValue(root, tokens.slice(0, -1)), key: tokens.at(-1) ?? '' };
}

function addValue(root: PatchedDocument, tokens: readonly string[], value: unknown): void {
  if (tokens.length === 0) {
    root.value = value;
    return;
  }
  const { parent, key } = findParent(root, tokens);
  if (Array.isArray(parent))
    parent.splice(key === '-' ? parent.length : parseIndex(parent, key, parent.length), 0, value);
  else setMember(requireObject(parent), key, value);
}

function replaceValue(root: PatchedDocument, tokens: readonly string[], value: unknown): void {
  if (tokens.length === 0) {
    root.value = value;
    return;
  }
  const { parent, key } = findParent(root, tokens);
  if (Array.isArray(parent)) parent[parseIndex(parent, key, parent.length - 1)] = value;
  else setMember(requireObject(parent), key, value);
}

function removeValue(root: PatchedDocument, tokens: readonly string[]): unknown {
  if (tokens.length === 0) throw new Error('the whole document cannot be removed; replace it');
  const { parent, key } = findParent(root, tokens);
  if (Array.isArray(parent)) return parent.splice(parseIndex(parent, key, parent.length - 1), 1)[0];
  const parentObject = requireMember(parent, key);
  const value = parentObject[key];
  delete parentObject[key];
  return value;
}

/** setMember defines a property instead of assigning it, because the key may be `__proto__`. */
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

function parseIndex(list: readonly unknown[], token: string, maxIndex: number): number {
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index > maxIndex) throw new Error(`no element ${token} in an array of ${list.length}`);
  return index;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (!hasProperties(a) || !hasProperties(b)) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}
