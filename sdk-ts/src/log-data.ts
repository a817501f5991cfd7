import { type Bag, isBag, isMethod, messageOf } from './runtime/value.ts';

// The values of a log entry leave the page as JSON. They are converted at once, before the page can change them, and
// the conversion never throws. The limits are those of wire.LogEntry.

const maxArguments = 10;
/** In UTF-16 units. */
const maxTextChars = 4096;
/** The JSON of one argument, in UTF-16 units. */
const maxJsonChars = 64 * 1024;
/** How many levels, and how many entries of a level, are converted. */
const [maxDepth, maxEntries] = [12, 1000];

/** Converts the values of a log entry to JSON values within the limits. */
export function logData(args: readonly unknown[]): unknown[] {
  return args.slice(0, maxArguments).map(argumentData);
}

/** Truncates a text to the limit of a log. */
export function logText(text: string): string {
  return text.length > maxTextChars ? `${text.slice(0, maxTextChars - 1)}…` : text;
}

function argumentData(value: unknown): unknown {
  const plain = plainOf(value, { path: new Set(), left: maxJsonChars });
  if (typeof plain === 'string') return plain;
  const json = JSON.stringify(plain) ?? 'null';
  return json.length > maxJsonChars ? logText(json) : plain;
}

interface Walk {
  /** The objects that contain this value, from the outermost on. */
  path: Set<unknown>;
  /** How many characters may still be written, roughly; each value counts as one at least. */
  left: number;
}

function plainOf(value: unknown, walk: Walk): unknown {
  if (--walk.left < 0) return '[more]';
  switch (typeof value) {
    case 'string':
      return textOf(value, walk);
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return `${value}n`;
    case 'symbol':
      return String(value);
    case 'undefined':
      return null;
    default:
      return isBag(value) ? plainOfBag(value, walk) : null;
  }
}

function textOf(text: string, walk: Walk): string {
  const shortened = logText(text);
  walk.left -= shortened.length;
  return shortened;
}

function plainOfBag(value: Bag, walk: Walk): unknown {
  if (walk.path.has(value)) return '[circular]';
  if (walk.path.size >= maxDepth) return '[more]';
  walk.path.add(value);
  try {
    return describeBag(value, walk);
  } catch (error) {
    return `[unreadable: ${logText(messageOf(error))}]`;
  } finally {
    walk.path.delete(value);
  }
}

function describeBag(value: Bag, walk: Walk): unknown {
  if (isMethod(value)) return `[function ${String(Reflect.get(value, 'name')) || 'without a name'}]`;
  if (value instanceof Error) return errorOf(value, walk);
  if (isElement(value)) return `<${[String(value.tagName).toLowerCase(), ...marksOf(value)].join('')}>`;
  if (isMethod(value.toJSON)) return plainOf(value.toJSON(''), walk);
  if (value instanceof Map) return membersOf([...value], walk);
  if (value instanceof Set) return membersOf([...value], walk);
  if (Array.isArray(value)) return membersOf(value, walk);
  const entries = Object.keys(value).slice(0, maxEntries);
  return Object.fromEntries(entries.map((key) => [textOf(key, walk), fieldOf(value, key, walk)]));
}

/** Converts one field. If its getter throws, the error is in place of the value. */
function fieldOf(value: Bag, key: string, walk: Walk): unknown {
  try {
    return plainOf(value[key], walk);
  } catch (error) {
    return `[unreadable: ${logText(messageOf(error))}]`;
  }
}

function membersOf(values: readonly unknown[], walk: Walk): unknown[] {
  const members = values.slice(0, maxEntries).map((value) => plainOf(value, walk));
  if (values.length > maxEntries) members.push(`[${values.length - maxEntries} more]`);
  return members;
}

function errorOf(error: Error, walk: Walk): unknown {
  const { name, message, stack, cause } = error;
  return {
    name: plainOf(name, walk),
    message: plainOf(message, walk),
    ...('code' in error && { code: plainOf(error.code, walk) }),
    ...(stack !== undefined && { stack: plainOf(stack, walk) }),
    ...(cause !== undefined && { cause: plainOf(cause, walk) }),
  };
}

/** Reports whether a value is an element. `instanceof` would miss elements of frames, which have separate classes. */
function isElement(value: Bag): boolean {
  return value.nodeType === 1 && typeof value.tagName === 'string';
}

function marksOf(element: Bag): string[] {
  const { id, className } = element;
  const classes = typeof className === 'string' ? className.split(/\s+/).filter(Boolean) : [];
  return [typeof id === 'string' && id !== '' ? `#${id}` : '', ...classes.map((name) => `.${name}`)];
}
