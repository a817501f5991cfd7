// Merges, filters and groups the calls that have ended.

import type { CallsFilter, CallView, RecordedCall } from '../../../wire/wire.gen.ts';
import { readVisibleResult } from './audience.ts';
import { isFailure } from './wording.ts';

export const MaxRecentCalls = 1000;

/** RecentCall is a call that has ended, from the server's memory or from its recorded files. */
export interface RecentCall extends CallView {
  readonly record?: Omit<RecordedCall, 'call'>;
}

export function toRecentCall({ call, ...callRecord }: RecordedCall): RecentCall {
  return { ...call, record: callRecord };
}

/** An empty or false field of a CallFilter does not restrict the selection. */
export interface CallFilter {
  /** Each word of a search must occur, in any letter case, in the text that the panel shows for a call. */
  readonly text: string;
  readonly failedOnly: boolean;
  readonly plugin: string;
  readonly client: string;
}

export const EmptyFilter: CallFilter = { text: '', failedOnly: false, plugin: '', client: '' };

export function canExcludeCalls({ text: searchText, failedOnly, plugin, client }: CallFilter): boolean {
  return searchText.trim() !== '' || failedOnly || plugin !== '' || client !== '';
}

/** CallGroup is a single ended call, or several equal consecutive failures, newest first. */
export interface CallGroup {
  readonly firstCall: RecentCall;
  readonly otherCalls: readonly RecentCall[];
}

export function mergeRecentCalls(
  newerCalls: readonly RecentCall[],
  olderCalls: readonly RecentCall[],
): readonly RecentCall[] {
  if (newerCalls.length === 0) return olderCalls;
  const newerIds = new Set(newerCalls.map((call) => call.callId));
  return [...newerCalls, ...olderCalls.filter((call) => !newerIds.has(call.callId))].slice(0, MaxRecentCalls);
}

/**
 * toRecorderFilter converts the panel's filter for the server, which may return more calls than the panel's filter
 * selects.
 */
export function toRecorderFilter({ text: searchText, failedOnly, plugin, client }: CallFilter): CallsFilter {
  const [longestWord] = searchText.split(/\s+/).toSorted((a, b) => b.length - a.length);
  return {
    ...(longestWord ? { text: longestWord } : {}),
    ...(failedOnly ? { failed: true } : {}),
    ...(plugin === '' ? {} : { tool: plugin }),
    ...(client === '' ? {} : { client }),
  };
}

export function filterCalls(
  calls: readonly RecentCall[],
  filter: CallFilter,
  showsEverything: boolean,
): readonly RecentCall[] {
  const searchWords = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return calls.filter((call) => {
    if (filter.failedOnly && call.status === 'done') return false;
    if (filter.plugin !== '' && call.plugin !== filter.plugin) return false;
    if (filter.client !== '' && call.client !== filter.client) return false;
    if (searchWords.length === 0) return true;
    const { plugin, tool, client, site, args, error, callId } = call;
    const shownText = [plugin, tool, client, site, args, error, callId, readVisibleResult(call, showsEverything)]
      .join('\n')
      .toLowerCase();
    return searchWords.every((searchWord) => shownText.includes(searchWord));
  });
}

/**
 * addRecords adds recorded calls, and keeps the activities of listed calls, because the server does not record
 * activities.
 */
export function addRecords(calls: readonly RecentCall[], page: readonly RecordedCall[]): readonly RecentCall[] {
  const recordedCalls = page.map(toRecentCall);
  const recordsById = new Map(recordedCalls.map((callRecord) => [callRecord.callId, callRecord]));
  const mergedCalls = calls.map((call) => {
    const callRecord = recordsById.get(call.callId);
    return callRecord && !call.record ? { ...call, ...callRecord } : call;
  });
  // A recorded call that is missing from the list is inserted before the next older call that is both in the list and
  // in the page.
  let index = mergedCalls.length;
  for (const callRecord of recordedCalls.toReversed()) {
    const position = mergedCalls.findIndex((call) => call.callId === callRecord.callId);
    if (position >= 0) index = position;
    else mergedCalls.splice(index, 0, callRecord);
  }
  return mergedCalls.slice(0, MaxRecentCalls);
}

/** groupFailures combines consecutive failures of the same tool with the same error into groups. */
export function groupFailures(calls: readonly RecentCall[]): readonly CallGroup[] {
  const failureGroups: { firstCall: RecentCall; otherCalls: RecentCall[] }[] = [];
  for (const call of calls) {
    const failureGroup = failureGroups.at(-1);
    if (failureGroup && isSameFailure(failureGroup.firstCall, call)) failureGroup.otherCalls.push(call);
    else failureGroups.push({ firstCall: call, otherCalls: [] });
  }
  return failureGroups;
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

export function listChoices(calls: readonly CallView[]): { plugins: readonly string[]; clients: readonly string[] } {
  return {
    plugins: [...new Set(calls.map((call) => call.plugin))].sort(),
    clients: [...new Set(calls.flatMap((call) => call.client || []))].sort(),
  };
}
