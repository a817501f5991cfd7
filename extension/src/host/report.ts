import { MaxMessageChars, type Report } from '../../../wire/wire.gen.ts';
import { makeObjectText } from './json.ts';
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
 * makeReportText converts the argument of reportProgress to the JSON text of a wire.Report. makeReportText reads each
 * field once, and never throws. A report with an unreadable field or an invalid number gets the field `invalid`.
 */
export function makeReportText(progress: unknown): string {
  if (progress === undefined || progress === null) return '{}';
  if (!isObject(progress)) return makeObjectText<'Report'>({ invalid: 'true' });
  let reportText = '';
  let isInvalid = false;
  const addField = (name: keyof Report, value: string) => {
    reportText += `${reportText === '' ? '' : ','}"${name}":${value}`;
  };
  const addNumber = (name: keyof Report) => {
    const value = readField(progress, name);
    if (value === undefined || value === null) return;
    if (typeof value === 'number' && isFiniteNumber(value)) addField(name, `${value}`);
    else isInvalid = true;
  };
  const addText = (name: keyof Report) => {
    const value = readField(progress, name);
    if (typeof value === 'string' && value !== '') addField(name, toJson(truncateMessage(value)));
  };
  try {
    addNumber('progress');
    addNumber('total');
    addNumber('percent');
    addNumber('loaded');
    addText('message');
    addText('status');
    addText('audience');
  } catch {
    isInvalid = true;
  }
  if (isInvalid) addField('invalid', 'true');
  return `{${reportText}}`;
}

/**
 * readField reads a field of a progress report, but ignores Object.prototype, where the page could define a forged
 * value.
 */
function readField(progress: object, name: string): unknown {
  if (hasOwn(progress, name)) return getProperty(progress, name);
  return getPrototypeOf(progress) === ObjectPrototype ? undefined : lookup(progress, name);
}

/** readAudience never throws. */
export function readAudience(options: unknown): unknown {
  try {
    return isObject(options) ? lookup(options, 'audience') : undefined;
  } catch {
    return undefined;
  }
}

/** truncateMessage shortens a message to a limit in UTF-16 units, without splitting a surrogate pair. */
export function truncateMessage(reportMessage: string, maxMessageChars: number = MaxMessageChars): string {
  if (reportMessage.length <= maxMessageChars) return reportMessage;
  const lastCodeUnit = reportMessage[maxMessageChars - 1] ?? '';
  const lastIndex = lastCodeUnit >= '\ud800' && lastCodeUnit <= '\udbff' ? maxMessageChars - 1 : maxMessageChars;
  return apply(slice, reportMessage, [0, lastIndex]);
}
