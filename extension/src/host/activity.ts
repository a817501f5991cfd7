import { MaxActivityBytes, MaxActivityTypes } from '../../../wire/wire.gen.ts';
import { countUtf8Bytes, makeObjectText, writeJson } from './json.ts';
import { isArray, isObject, makeBareObject, toJson } from './primordials.ts';
import { readAudience, truncateMessage } from './report.ts';

/** MaxTypeChars is the maximum length of an activity's type, in UTF-16 units. */
const MaxTypeChars = 100;
/** MaxStoredReportChars limits the activity reports of one call that the host stores for resyncs, in UTF-16 units. */
const MaxStoredReportChars = 1024 * 1024;
/** MaxResends limits the resyncs of one activity, because a patch that never applies would cause endless resyncs. */
const MaxResends = 8;

/** INVALID_REPORT is the text that the host sends instead of an activity report that is invalid or too long. */
const INVALID_REPORT = makeObjectText<'Report'>({ invalid: 'true' });

/**
 * Activities converts the activities of one call to reports, and stores the reports for resyncs. The methods of
 * Activities never throw.
 */
export interface Activities {
  /**
   * reportContent returns an activity's complete content as the JSON text of a wire.Report, and stores the report for
   * resyncs.
   */
  reportContent(type: unknown, content: unknown, options: unknown): string;
  /** The argument `patch` is one JSON Patch operation, or an array of operations. */
  reportPatch(type: unknown, patch: unknown, options: unknown): string;
  /**
   * The method `resend` sends an activity again, if the host still stores its reports. `resend` sends the last complete
   * content and all later patches, joined by commas. If `type` is empty, `resend` sends the activities of all types.
   */
  resend(type: string, sendReports: (reports: string, count: number) => void): void;
}

interface StoredReports {
  reports: string;
  count: number;
  resendCount: number;
}

export function makeActivities(): Activities {
  const reportsByType = makeBareObject();
  let storedTypeCount = 0;
  let storedChars = 0;

  const findStoredReports = (type: string): StoredReports | undefined => {
    const storedReports = reportsByType[type];
    return isStoredReports(storedReports) ? storedReports : undefined;
  };
  const deleteStoredReports = (type: string) => {
    const storedReports = findStoredReports(type);
    if (!storedReports) return;
    delete reportsByType[type];
    storedTypeCount--;
    storedChars -= storedReports.reports.length;
  };
  const storeContent = (type: string, report: string) => {
    deleteStoredReports(type);
    if (storedTypeCount >= MaxActivityTypes || storedChars + report.length > MaxStoredReportChars) return;
    const storedReports: StoredReports = { reports: report, count: 1, resendCount: 0 };
    reportsByType[type] = storedReports;
    storedTypeCount++;
    storedChars += report.length;
  };
  const storePatch = (type: string, report: string) => {
    const storedReports = findStoredReports(type);
    if (!storedReports) return;
    if (storedChars + report.length + 1 > MaxStoredReportChars) {
      deleteStoredReports(type);
      return;
    }
    storedReports.reports += `,${report}`;
    storedReports.count++;
    storedChars += report.length + 1;
  };

  return {
    reportContent: (type, content, options) => {
      const report = makeActivityReport(type, 'content', () => writeJson(content), options);
      if (typeof type === 'string' && report !== INVALID_REPORT) storeContent(type, report);
      return report;
    },
    reportPatch: (type, patch, options) => {
      const report = makeActivityReport(type, 'patch', () => toPatchText(patch), options);
      if (typeof type === 'string' && report !== INVALID_REPORT) storePatch(type, report);
      return report;
    },
    resend: (type, sendReports) => {
      for (const storedType in reportsByType) {
        const storedReports = type === '' || type === storedType ? findStoredReports(storedType) : undefined;
        if (!storedReports || storedReports.resendCount >= MaxResends) continue;
        storedReports.resendCount++;
        sendReports(storedReports.reports, storedReports.count);
      }
    },
  };
}

function isStoredReports(value: unknown): value is StoredReports {
  return isObject(value);
}

function makeActivityReport(
  type: unknown,
  fieldName: 'content' | 'patch',
  writeField: () => string | undefined,
  options: unknown,
): string {
  if (typeof type !== 'string' || type === '' || type.length > MaxTypeChars) return INVALID_REPORT;
  try {
    const fieldJson = writeField();
    if (fieldJson === undefined || countUtf8Bytes(fieldJson, MaxActivityBytes) > MaxActivityBytes)
      return INVALID_REPORT;
    const audience = readAudience(options);
    const activity =
      fieldName === 'content'
        ? makeObjectText<'Activity'>({ type: toJson(type), content: fieldJson })
        : makeObjectText<'Activity'>({ type: toJson(type), patch: fieldJson });
    return makeObjectText<'Report'>({
      activity,
      audience: typeof audience === 'string' && audience !== '' ? toJson(truncateMessage(audience)) : undefined,
    });
  } catch {
    return INVALID_REPORT;
  }
}

function toPatchText(patch: unknown): string | undefined {
  if (!isObject(patch)) return undefined;
  const fieldJson = writeJson(patch);
  return isArray(patch) || fieldJson === undefined ? fieldJson : `[${fieldJson}]`;
}
