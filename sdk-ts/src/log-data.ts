import { hasProperties, isMethod, type Properties, readMessage } from './runtime/value.ts';

// The arguments of a log call become JSON before the call returns, so later changes by the page have no effect. The
// functions that convert log data never throw.

const maxArguments = 10;
const maxTextChars = 4096;
const maxJsonChars = 64 * 1024;
/**
 * maxDepth limits how many nested levels of a logged object are converted. maxEntries limits how many entries of each
 * object or array are converted.
 */
const [maxDepth, maxEntries] = [12, 1000];

export function toLogData(args: readonly unknown[]): unknown[] {
  return args.slice(0, maxArguments).map(convertArgument);
}

export function truncateLogText(text: string): string {
  return text.length > maxTextChars ? `${text.slice(0, maxTextChars - 1)}…` : text;
}

function convertArgument(value: unknown): unknown {
  const plainValue = toPlainValue(value, { path: new Set(), charsLeft: maxJsonChars });
  if (typeof plainValue === 'string') return plainValue;
  const json = JSON.stringify(plainValue) ?? 'null';
  return json.length > maxJsonChars ? truncateLogText(json) : plainValue;
}

interface ConversionState {
  /**
   * `path` contains the objects around the current value. A value that is in `path` is circular, so JSON cannot
   * represent it.
   */
  path: Set<unknown>;
  charsLeft: number;
}

function toPlainValue(value: unknown, conversionState: ConversionState): unknown {
  if (--conversionState.charsLeft < 0) return '[more]';
  switch (typeof value) {
    case 'string':
      return toPlainText(value, conversionState);
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
      return hasProperties(value) ? convertObject(value, conversionState) : null;
  }
}

function toPlainText(text: string, conversionState: ConversionState): string {
  const shortText = truncateLogText(text);
  conversionState.charsLeft -= shortText.length;
  return shortText;
}

function convertObject(value: Properties, conversionState: ConversionState): unknown {
  if (conversionState.path.has(value)) return '[circular]';
  if (conversionState.path.size >= maxDepth) return '[more]';
  conversionState.path.add(value);
  try {
    return convertObjectContent(value, conversionState);
  } catch (error) {
    return `[unreadable: ${truncateLogText(readMessage(error))}]`;
  } finally {
    conversionState.path.delete(value);
  }
}

function convertObjectContent(value: Properties, conversionState: ConversionState): unknown {
  if (isMethod(value)) return `[function ${String(Reflect.get(value, 'name')) || 'without a name'}]`;
  if (value instanceof Error) return convertError(value, conversionState);
  if (isElement(value)) return `<${[String(value.tagName).toLowerCase(), ...formatIdAndClasses(value)].join('')}>`;
  if (isMethod(value.toJSON)) return toPlainValue(value.toJSON(''), conversionState);
  if (value instanceof Map) return convertMembers([...value], conversionState);
  if (value instanceof Set) return convertMembers([...value], conversionState);
  if (Array.isArray(value)) return convertMembers(value, conversionState);
  const entries = Object.keys(value).slice(0, maxEntries);
  return Object.fromEntries(
    entries.map((key) => [toPlainText(key, conversionState), convertField(value, key, conversionState)]),
  );
}

function convertField(value: Properties, key: string, conversionState: ConversionState): unknown {
  try {
    return toPlainValue(value[key], conversionState);
  } catch (error) {
    return `[unreadable: ${truncateLogText(readMessage(error))}]`;
  }
}

function convertMembers(values: readonly unknown[], conversionState: ConversionState): unknown[] {
  const members = values.slice(0, maxEntries).map((value) => toPlainValue(value, conversionState));
  if (values.length > maxEntries) members.push(`[${values.length - maxEntries} more]`);
  return members;
}

function convertError(error: Error, conversionState: ConversionState): unknown {
  const { name, message, stack, cause } = error;
  return {
    name: toPlainValue(name, conversionState),
    message: toPlainValue(message, conversionState),
    ...('code' in error && { code: toPlainValue(error.code, conversionState) }),
    ...(stack !== undefined && { stack: toPlainValue(stack, conversionState) }),
    ...(cause !== undefined && { cause: toPlainValue(cause, conversionState) }),
  };
}

/** `instanceof` would miss DOM elements of iframes, which have separate classes. */
function isElement(value: Properties): boolean {
  return value.nodeType === 1 && typeof value.tagName === 'string';
}

function formatIdAndClasses(element: Properties): string[] {
  const { id, className } = element;
  const classes = typeof className === 'string' ? className.split(/\s+/).filter(Boolean) : [];
  return [typeof id === 'string' && id !== '' ? `#${id}` : '', ...classes.map((name) => `.${name}`)];
}
