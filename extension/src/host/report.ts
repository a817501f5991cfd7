import { MaxMessageChars } from '../../../wire/wire.gen.ts';
import {
  apply,
  getProperty,
  getPrototypeOf,
  hasOwn,
  isFiniteNumber,
  isObject,
  lookup,
  ObjectPrototype,
  slice,
  toJson,
} from './primordials.ts';

/**
 * reportText turns what a tool passed to reportProgress into the JSON text of a wire.Report. It reads each field once
 * and never throws: what can't be read or sent is marked as invalid.
 */
export function reportText(given: unknown): string {
  if (given === undefined || given === null) return '{}';
  if (!isObject(given)) return '{"invalid":true}';
  let text = '';
  let invalid = false;
  const add = (name: string, value: string) => {
    text += `${text === '' ? '' : ','}"${name}":${value}`;
  };
  const number = (name: string) => {
    const value = field(given, name);
    if (value === undefined || value === null) return;
    if (typeof value === 'number' && isFiniteNumber(value)) add(name, `${value}`);
    else invalid = true;
  };
  const words = (name: string) => {
    const value = field(given, name);
    if (typeof value === 'string' && value !== '') add(name, toJson(cut(value)));
  };
  try {
    number('progress');
    number('total');
    number('percent');
    number('loaded');
    words('message');
    words('status');
    words('audience');
  } catch {
    invalid = true;
  }
  if (invalid) add('invalid', 'true');
  return `{${text}}`;
}

/** field reads given[name], but not from Object.prototype, where a page could have put words into a tool's mouth. */
function field(given: object, name: string): unknown {
  if (hasOwn(given, name)) return getProperty(given, name);
  return getPrototypeOf(given) === ObjectPrototype ? undefined : lookup(given, name);
}

/** audienceOf reads the audience from the options of a report, undefined if they have none. It never throws. */
export function audienceOf(options: unknown): unknown {
  try {
    return isObject(options) ? lookup(options, 'audience') : undefined;
  } catch {
    return undefined;
  }
}

/** cut shortens a message to the limit without splitting a character that takes two units. */
export function cut(message: string, limit: number = MaxMessageChars): string {
  if (message.length <= limit) return message;
  const last = message[limit - 1] ?? '';
  const whole = last >= '\ud800' && last <= '\udbff' ? limit - 1 : limit;
  return apply(slice, message, [0, whole]);
}
