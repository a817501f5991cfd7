import type { CallView } from '../../../wire/wire.gen.ts';

export interface CallTreeRow {
  readonly call: CallView;
  readonly depth: number;
}

/** listCallTree orders open calls so that each nested call follows its parent and the parent's earlier nested calls. */
export function listCallTree(calls: readonly CallView[]): CallTreeRow[] {
  const callIds = new Set(calls.map((call) => call.callId));
  const children = new Map<string, CallView[]>();
  const topLevelCalls: CallView[] = [];
  for (const call of calls) {
    const parent = call.parentCallId;
    if (parent === undefined || parent === call.callId || !callIds.has(parent)) topLevelCalls.push(call);
    else children.set(parent, [...(children.get(parent) ?? []), call]);
  }
  const callRows: CallTreeRow[] = [];
  const addCallRow = (call: CallView, depth: number) => {
    callRows.push({ call, depth });
    for (const child of children.get(call.callId) ?? []) addCallRow(child, depth + 1);
  };
  for (const root of topLevelCalls) addCallRow(root, 0);
  return callRows;
}
