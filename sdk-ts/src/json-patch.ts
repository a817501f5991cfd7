import type { PatchOperation } from './context.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';
import { hasProperties } from './runtime/value.ts';

/** applyPatch changes only a copy of the value, and throws an Error that names the first operation that failed. */
export function applyPatch(originalDocument: unknown, patchOperations: readonly PatchOperation[]): unknown {
  return withPristineBuiltIns(() => {
    const patchedDocument: PatchedDocument = { value: structuredClone(originalDocument) };
    patchOperations.forEach((operation, index) => {
      try {
        applyOperation(patchedDocument, operation);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`operation ${index} (${operation.op} ${JSON.stringify(operation.path)}): ${reason}`);
      }
    });
    return patchedDocument.value;
  });
}

/** The wrapper around the patched JSON document lets an operation replace the whole document. */
interface PatchedDocument {
  value: unknown;
}

function applyOperation(patchedDocument: PatchedDocument, operation: PatchOperation): void {
  const tokens = splitPointer(operation.path);
  switch (operation.op) {
    case 'add':
      addValue(patchedDocument, tokens, structuredClone(operation.value));
      return;
    case 'remove':
      removeValue(patchedDocument, tokens);
      return;
    case 'replace':
      readValue(patchedDocument, tokens);
      replaceValue(patchedDocument, tokens, structuredClone(operation.value));
      return;
    case 'copy':
      addValue(patchedDocument, tokens, structuredClone(readValue(patchedDocument, splitPointer(operation.from))));
      return;
    case 'move':
      if (operation.path.startsWith(`${operation.from}/`)) throw new Error('a value cannot be moved into itself');
      addValue(patchedDocument, tokens, removeValue(patchedDocument, splitPointer(operation.from)));
      return;
    case 'test':
      if (!isEqual(readValue(patchedDocument, tokens), operation.value)) throw new Error('the value differs');
      return;
    default:
      throw new Error('unknown operation');
  }
}

function splitPointer(jsonPointer: string): string[] {
  if (jsonPointer === '') return [];
  if (typeof jsonPointer !== 'string' || !jsonPointer.startsWith('/'))
    throw new Error('a path must be empty or begin with /');
  return jsonPointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function readValue(patchedDocument: PatchedDocument, tokens: readonly string[]): unknown {
  let value = patchedDocument.value;
  for (const token of tokens) {
    if (Array.isArray(value)) value = value[parseIndex(value, token, value.length - 1)];
    else value = requireMember(value, token)[token];
  }
  return value;
}

function findParent(patchedDocument: PatchedDocument, tokens: readonly string[]): { parent: unknown; key: string } {
  return { parent: readValue(patchedDocument, tokens.slice(0, -1)), key: tokens.at(-1) ?? '' };
}

function addValue(patchedDocument: PatchedDocument, tokens: readonly string[], value: unknown): void {
  if (tokens.length === 0) {
    patchedDocument.value = value;
    return;
  }
  const { parent, key } = findParent(patchedDocument, tokens);
  if (Array.isArray(parent))
    parent.splice(key === '-' ? parent.length : parseIndex(parent, key, parent.length), 0, value);
  else setObjectMember(requireObject(parent), key, value);
}

function replaceValue(patchedDocument: PatchedDocument, tokens: readonly string[], value: unknown): void {
  if (tokens.length === 0) {
    patchedDocument.value = value;
    return;
  }
  const { parent, key } = findParent(patchedDocument, tokens);
  if (Array.isArray(parent)) parent[parseIndex(parent, key, parent.length - 1)] = value;
  else setObjectMember(requireObject(parent), key, value);
}

function removeValue(patchedDocument: PatchedDocument, tokens: readonly string[]): unknown {
  if (tokens.length === 0) throw new Error('the whole document cannot be removed; replace it');
  const { parent, key } = findParent(patchedDocument, tokens);
  if (Array.isArray(parent)) return parent.splice(parseIndex(parent, key, parent.length - 1), 1)[0];
  const parentObject = requireMember(parent, key);
  const value = parentObject[key];
  delete parentObject[key];
  return value;
}

/** setObjectMember defines a property instead of assigning it, because the key may be `__proto__`. */
function setObjectMember(object: Record<string, unknown>, key: string, value: unknown): void {
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

function isEqual(firstValue: unknown, secondValue: unknown): boolean {
  if (!hasProperties(firstValue) || !hasProperties(secondValue)) return firstValue === secondValue;
  if (Array.isArray(firstValue) !== Array.isArray(secondValue)) return false;
  const keys = Object.keys(firstValue);
  return (
    keys.length === Object.keys(secondValue).length &&
    keys.every((key) => Object.hasOwn(secondValue, key) && isEqual(firstValue[key], secondValue[key]))
  );
}
