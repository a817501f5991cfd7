// Which calls, messages and activities the panel shows. A tool says of each report whether it is meant for people;
// numbers, failures and questions to the person are shown always.

import type { ActivityView, CallView } from '../../../wire/wire.gen.ts';

/** User marks what is meant for people; everything else, also values that are not known, is for those who look closer. */
const User = 'user';

/** Report is what is shown of how far a call is. */
export interface Report {
  /** share is from 0 to 1; absent while it is not known. */
  readonly share: number | undefined;
  readonly message: string;
}

/** reportOf returns how far a call is, and its last message that is shown. */
export function reportOf(call: CallView, everything: boolean): Report {
  return { share: call.progress, message: (everything ? call.message : call.userMessage) ?? '' };
}

/** activitiesOf returns the activities of a call that are shown. */
export function activitiesOf(call: CallView, everything: boolean): readonly ActivityView[] {
  return (call.activities ?? []).filter((activity) => everything || activity.audience === User);
}

/** isOpen tells whether a call has not ended. */
export function isOpen(call: CallView): boolean {
  return call.status === 'running' || call.status === 'pending';
}

/** isEndShown tells whether a call that ended is shown: one that succeeded only if its tool says so. */
export function isEndShown(call: CallView, everything: boolean): boolean {
  return everything || call.status !== 'done' || call.endAudience === User;
}
