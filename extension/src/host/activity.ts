import { MaxActivityBytes, MaxActivityTypes } from '../../../wire/wire.gen.ts';
import { bytesOf, objectText, writeJson } from './json.ts';
import { bare, isArray, isObject, toJson } from './primordials.ts';
import { audienceOf, truncate } from './report.ts';

/** MaxTypeChars is the maximum length of an activity's type, in UTF-16 units. */
const MaxTypeChars = 100;
/** MaxStoredChars limits the reports of one call that are stored for a resync, in UTF-16 units. */
const MaxStoredChars = 1024 * 1024;
/** MaxResends limits how often one content is sent again, because a patch that never applies would cause endless resyncs. */
const MaxResends = 8;

/** INVALID is the report of an activity that cannot be sent. */
const INVALID = objectText<'Report'>({ invalid: 'true' });

/**
 * Activities converts the activities of one call to reports, and stores them for a resync. The functions of Activities
 * never throw.
 */
export interface Activities {
  /** reportContent returns the JSON text of a wire.Report with a content, and stores the report. */
  reportContent(type: unknown, content: unknown, options: unknown): string;
  /** reportPatch reports a patch of an activity's content: one operation, or an array of operations. */
  reportPatch(type: unknown, patch: unknown, options: unknown): string;
  /**
   * resend sends the last content of a type and its later patches, joined by commas, if these reports are still stored.
   * If type is empty, resend sends the activities of all types.
   */
  resend(type: string, send: (reports: string, count: number) => void): void;
}

/** StoredReports are the last content of one type and its later patches. */
interface StoredReports {
  reports: string;
  count: number;
  resends: number;
}

/** makeActivities returns the activities of a new call. */
export function makeActivities(): Activities {
  const table = bare();
  let types = 0;
  let chars = 0;

  const stored = (type: string): StoredReports | undefined => {
    const entry = table[type];
    return isStored(entry) ? entry : undefined;
  };
  const drop = (type: string) => {
    const entry = stored(type);
    if (!entry) return;
    delete table[type];
    types--;
    chars -= entry.reports.length;
  };
  const storeContent = (type: string, report: string) => {
    drop(type);
    if (types >= MaxActivityTypes || chars + report.length > MaxStoredChars) return;
    const entry: StoredReports = { reports: report, count: 1, resends: 0 };
    table[type] = entry;
    types++;
    chars += report.length;
  };
  const storePatch = (type: string, report: string) => {
    const entry = stored(type);
    if (!entry) return;
    if (chars + report.length + 1 > MaxStoredChars) {
      drop(type);
      return;
    }
    entry.reports += `,${report}`;
    entry.count++;
    chars += report.length + 1;
  };

  return {
    reportContent: (type, content, options) => {
      const report = reportOf(type, 'content', () => writeJson(content), options);
      if (typeof type === 'string' && report !== INVALID) storeContent(type, report);
      return report;
    },
    reportPatch: (type, patch, options) => {
      const report = reportOf(type, 'patch', () => patchText(patch), options);
      if (typeof type === 'string' && report !== INVALID) storePatch(type, report);
      return report;
    },
    resend: (type, send) => {
      for (const each in table) {
        const entry = type === '' || type === each ? stored(each) : undefined;
        if (!entry || entry.resends >= MaxResends) continue;
        entry.resends++;
        send(entry.reports, entry.count);
      }
    },
  };
}

function isStored(value: unknown): value is StoredReports {
  return isObject(value);
}

function reportOf(
  type: unknown,
  field: 'content' | 'patch',
  write: () => string | undefined,
  options: unknown,
): string {
  if (typeof type !== 'string' || type === '' || type.length > MaxTypeChars) return INVALID;
  try {
    const text = write();
    if (text === undefined || bytesOf(text, MaxActivityBytes) > MaxActivityBytes) return INVALID;
    const audience = audienceOf(options);
    const activity =
      field === 'content'
        ? objectText<'Activity'>({ type: toJson(type), content: text })
        : objectText<'Activity'>({ type: toJson(type), patch: text });
    return objectText<'Report'>({
      activity,
      audience: typeof audience === 'string' && audience !== '' ? toJson(truncate(audience)) : undefined,
    });
  } catch {
    return INVALID;
  }
}

function patchText(patch: unknown): string | undefined {
  if (!isObject(patch)) return undefined;
  const text = writeJson(patch);
  return isArray(patch) || text === undefined ? text : `[${text}]`;
}
