// Which messages, results and activities the panel shows. A tool says of each report, and of its result, whether it is
// meant for people; that a call happened and how it ended, numbers and questions to the user are shown always.

import type { ActivityView, CallView } from '../../../wire/wire.gen.ts';

/** User marks what is meant for people; everything else, also values that are not known, is for those who look closer. */
const User = 'user';

/** Report is what is shown of how far a call is. */
export interface Report {
  /** share is from 0 to 1; absent while it is not known. */
  readonly share: number | undefined;
  readonly message: string;
  /** word is the tool's own word for what it does, as in "indexing"; empty if it said none. */
  readonly word: string;
}

/** reportOf returns how far a call is, and its last message that is shown, with its word. */
export function reportOf(call: CallView, everything: boolean): Report {
  const message = (everything ? call.message : call.userMessage) ?? '';
  return { share: call.progress, message, word: (everything ? call.statusWord : call.userStatusWord) ?? '' };
}

/** activitiesOf returns the activities of a call that are shown. */
export function activitiesOf(call: CallView, everything: boolean): readonly ActivityView[] {
  return (call.activities ?? []).filter((activity) => everything || activity.audience === User);
}

/** isOpen reports whether a call has not ended. */
export function isOpen(call: CallView): boolean {
  return call.status === 'running' || call.status === 'pending';
}

/** resultOf returns the beginning of a call's result if it is shown; empty if not. The end itself is always shown. */
export function resultOf(call: CallView, everything: boolean): string {
  return everything || call.endAudience === User ? (call.result ?? '') : '';
}
