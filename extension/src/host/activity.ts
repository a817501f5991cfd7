import { MaxActivityBytes, MaxActivityTypes } from '../../../wire/wire.gen.ts';
import { bytesOf, writeJson } from './json.ts';
import { bare, isArray, isObject, toJson } from './primordials.ts';
import { audienceOf, cut } from './report.ts';

/** MaxTypeChars is the longest type of an activity, in UTF-16 units. */
const MaxTypeChars = 100;
/** MaxKeptChars is how much is kept of one call to send it again, in UTF-16 units. */
const MaxKeptChars = 1024 * 1024;
/** MaxAgain is how often one content is sent again: a patch that never fits would have it sent for ever. */
const MaxAgain = 8;

/** INVALID is a report of what could not be sent. */
const INVALID = '{"invalid":true}';

/** Activities turns what one call shows beside its progress into reports. Its functions never throw. */
export interface Activities {
  /** renew returns the JSON text of a wire.Report with a new content. */
  renew(type: unknown, content: unknown, options: unknown): string;
  /** change returns one with a patch: an array of operations, or a single one. */
  change(type: unknown, patch: unknown, options: unknown): string;
  /** again sends the last content of a type, or of all for an empty one, and the patches since, joined by commas; if they are still here. */
  again(type: string, send: (reports: string, count: number) => void): void;
}

/** Kept are the reports of one type since its last content. */
interface Kept {
  reports: string;
  count: number;
  sentAgain: number;
}

/** makeActivities returns the activities of a call that begins. */
export function makeActivities(): Activities {
  const table = bare();
  let types = 0;
  let chars = 0;

  const kept = (type: string): Kept | undefined => {
    const entry = table[type];
    return isKept(entry) ? entry : undefined;
  };
  const forget = (type: string) => {
    const entry = kept(type);
    if (!entry) return;
    delete table[type];
    types--;
    chars -= entry.reports.length;
  };
  const begin = (type: string, report: string) => {
    forget(type);
    if (types >= MaxActivityTypes || chars + report.length > MaxKeptChars) return;
    const entry: Kept = { reports: report, count: 1, sentAgain: 0 };
    table[type] = entry;
    types++;
    chars += report.length;
  };
  const goOn = (type: string, report: string) => {
    const entry = kept(type);
    if (!entry) return;
    if (chars + report.length + 1 > MaxKeptChars) {
      forget(type);
      return;
    }
    entry.reports += `,${report}`;
    entry.count++;
    chars += report.length + 1;
  };

  return {
    renew: (type, content, options) => {
      const report = reportOf(type, 'content', () => writeJson(content), options);
      if (typeof type === 'string' && report !== INVALID) begin(type, report);
      return report;
    },
    change: (type, patch, options) => {
      const report = reportOf(type, 'patch', () => patchText(patch), options);
      if (typeof type === 'string' && report !== INVALID) goOn(type, report);
      return report;
    },
    again: (type, send) => {
      for (const each in table) {
        const entry = type === '' || type === each ? kept(each) : undefined;
        if (!entry || entry.sentAgain >= MaxAgain) continue;
        entry.sentAgain++;
        send(entry.reports, entry.count);
      }
    },
  };
}

function isKept(value: unknown): value is Kept {
  return isObject(value);
}

function reportOf(type: unknown, field: string, write: () => string | undefined, options: unknown): string {
  if (typeof type !== 'string' || type === '' || type.length > MaxTypeChars) return INVALID;
  try {
    const text = write();
    if (text === undefined || bytesOf(text, MaxActivityBytes) > MaxActivityBytes) return INVALID;
    const audience = audienceOf(options);
    const to = typeof audience === 'string' && audience !== '' ? `,"audience":${toJson(cut(audience))}` : '';
    return `{"activity":{"type":${toJson(type)},"${field}":${text}}${to}}`;
  } catch {
    return INVALID;
  }
}

function patchText(patch: unknown): string | undefined {
  if (!isObject(patch)) return undefined;
  const text = writeJson(patch);
  return isArray(patch) || text === undefined ? text : `[${text}]`;
}
