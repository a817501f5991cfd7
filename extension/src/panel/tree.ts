import type { CallView } from '../../../wire/wire.gen.ts';

/** PlacedCall is a call and its depth among the open calls. */
export interface PlacedCall {
  readonly call: CallView;
  readonly depth: number;
}

/**
 * placeCalls sorts each call behind its parent and the parent's earlier calls. The order of calls without a parent does
 * not change. A call whose parent is not in the list is at depth 0.
 */
export function placeCalls(calls: readonly CallView[]): PlacedCall[] {
  const known = new Set(calls.map((call) => call.callId));
  const children = new Map<string, CallView[]>();
  const roots: CallView[] = [];
  for (const call of calls) {
    const parent = call.parentCallId;
    if (parent === undefined || parent === call.callId || !known.has(parent)) roots.push(call);
    else children.set(parent, [...(children.get(parent) ?? []), call]);
  }
  const out: PlacedCall[] = [];
  const place = (call: CallView, depth: number) => {
    out.push({ call, depth });
    for (const child of children.get(call.callId) ?? []) place(child, depth + 1);
  };
  for (const root of roots) place(root, 0);
  return out;
}
