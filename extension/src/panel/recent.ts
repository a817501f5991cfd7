// Merges, filters and groups the calls that have ended.

import type { CallsFilter, CallView, RecordedCall } from '../../../wire/wire.gen.ts';
import { readVisibleResult } from './audience.ts';
import { isFailure } from './wording.ts';

/** MaxRecentCalls is the maximum number of ended calls that the panel keeps in memory. */
export const MaxRecentCalls = 1000;

/** RecentCall is a call that has ended, from the server's memory or from its recorded files. */
export interface RecentCall extends CallView {
  /**
   * record contains the fields that only recorded calls have. If the call comes from the server's memory, record is
   * absent.
   */
  readonly record?: Omit<RecordedCall, 'call'>;
}

/** fromRecord converts a recorded call into a RecentCall. */
export function fromRecord({ call, ...record }: RecordedCall): RecentCall {
  return { ...call, record };
}

/**
 * Filter selects ended calls. If a field of the filter is empty or false, the field does not restrict the selection.
 */
export interface Filter {
  /**
   * text contains the words of a search. Each word must occur, in any letter case, in the text that the panel shows for
   * a call.
   */
  readonly text: string;
  readonly failedOnly: boolean;
  readonly plugin: string;
  readonly client: string;
}

/** EmptyFilter selects all ended calls. */
export const EmptyFilter: Filter = { text: '', failedOnly: false, plugin: '', client: '' };

/** canExcludeCalls reports whether a filter can exclude a call. */
export function canExcludeCalls({ text, failedOnly, plugin, client }: Filter): boolean {
  return text.trim() !== '' || failedOnly || plugin !== '' || client !== '';
}

/** CallGroup is a single ended call, or several equal consecutive failures, newest first. */
export interface CallGroup {
  readonly first: RecentCall;
  readonly others: readonly RecentCall[];
}

/** mergeRecent merges two lists of ended calls, both newest first, and removes duplicates. */
export function mergeRecent(newer: readonly RecentCall[], older: readonly RecentCall[]): readonly RecentCall[] {
  if (newer.length === 0) return older;
  const newerIds = new Set(newer.map((call) => call.callId));
  return [...newer, ...older.filter((call) => !newerIds.has(call.callId))].slice(0, MaxRecentCalls);
}

/**
 * toRecorderFilter converts the panel's filter to a filter for the server's recorded calls, which may match more calls
 * than the panel's filter. The server can search for only one text, so the returned filter contains only the longest
 * word of the search text.
 */
export function toRecorderFilter({ text, failedOnly, plugin, client }: Filter): CallsFilter {
  const [longest] = text.split(/\s+/).toSorted((a, b) => b.length - a.length);
  return {
    ...(longest ? { text: longest } : {}),
    ...(failedOnly ? { failed: true } : {}),
    ...(plugin === '' ? {} : { tool: plugin }),
    ...(client === '' ? {} : { client }),
  };
}

/** filterCalls returns the ended calls that match a filter. */
export function filterCalls(
  calls: readonly RecentCall[],
  filter: Filter,
  showsEverything: boolean,
): readonly RecentCall[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return calls.filter((call) => {
    if (filter.failedOnly && call.status === 'done') return false;
    if (filter.plugin !== '' && call.plugin !== filter.plugin) return false;
    if (filter.client !== '' && call.client !== filter.client) return false;
    if (words.length === 0) return true;
    const { plugin, tool, client, site, args, error, callId } = call;
    const shownText = [plugin, tool, client, site, args, error, callId, readVisibleResult(call, showsEverything)]
      .join('\n')
      .toLowerCase();
    return words.every((word) => shownText.includes(word));
  });
}

/**
 * addRecords adds one page of recorded calls to the list of ended calls, both newest first. If a recorded call is
 * already in the list of ended calls, addRecords adds the record to the call, and keeps the call's activities, which
 * the server does not record.
 */
export function addRecords(calls: readonly RecentCall[], page: readonly RecordedCall[]): readonly RecentCall[] {
  const records = page.map(fromRecord);
  const recordsById = new Map(records.map((record) => [record.callId, record]));
  const merged = calls.map((call) => {
    const record = recordsById.get(call.callId);
    return record && !call.record ? { ...call, ...record } : call;
  });
  // A record of a call that is not in the list of ended calls is inserted before the next older call that both the list
  // and the loaded page contain. Without such a call, the record is appended.
  let index = merged.length;
  for (const record of records.toReversed()) {
    const position = merged.findIndex((call) => call.callId === record.callId);
    if (position >= 0) index = position;
    else merged.splice(index, 0, record);
  }
  return merged.slice(0, MaxRecentCalls);
}

/**
 * groupFailures combines consecutive failures of the same tool with the same error into groups. Each successful call
 * forms a group with one call.
 */
export function groupFailures(calls: readonly RecentCall[]): readonly CallGroup[] {
  const groups: { first: RecentCall; others: RecentCall[] }[] = [];
  for (const call of calls) {
    const group = groups.at(-1);
    if (group && isSameFailure(group.first, call)) group.others.push(call);
    else groups.push({ first: call, others: [] });
  }
  return groups;
}

function isSameFailure(a: CallView, b: CallView): boolean {
  return (
    isFailure(a.status) &&
    a.status === b.status &&
    a.plugin === b.plugin &&
    a.tool === b.tool &&
    a.client === b.client &&
    a.errorCode === b.errorCode &&
    a.error === b.error
  );
}

/** listChoices returns the sorted names of the plugins and clients of ended calls, for the filter's drop-down lists. */
export function listChoices(calls: readonly CallView[]): { plugins: readonly string[]; clients: readonly string[] } {
  return {
    plugins: [...new Set(calls.map((call) => call.plugin))].sort(),
    clients: [...new Set(calls.flatMap((call) => call.client || []))].sort(),
  };
}
