import type { CallView } from '../../../wire/wire.gen.ts';

/** Placed is a call and how many open calls it is nested in. */
export interface Placed {
  readonly call: CallView;
  readonly depth: number;
}

/**
 * placed puts each call behind its parent, with those that the parent made before it; the order is kept otherwise. A
 * call whose parent is not in the list stands by itself.
 */
export function placed(calls: readonly CallView[]): Placed[] {
  const known = new Set(calls.map((call) => call.callId));
  const children = new Map<string, CallView[]>();
  const roots: CallView[] = [];
  for (const call of calls) {
    const parent = call.parentCallId;
    if (parent === undefined || parent === call.callId || !known.has(parent)) roots.push(call);
    else children.set(parent, [...(children.get(parent) ?? []), call]);
  }
  const out: Placed[] = [];
  const place = (call: CallView, depth: number) => {
    out.push({ call, depth });
    for (const child of children.get(call.callId) ?? []) place(child, depth + 1);
  };
  for (const root of roots) place(root, 0);
  return out;
}
