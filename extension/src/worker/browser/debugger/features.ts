import type { Fields } from '../../../record.ts';

/** Feature is a state of the debugger that lasts while a tool needs it. */
export type Feature =
  /** The page behaves as if it had the focus and were visible, so that input reaches a background tab. */
  | 'focus'
  /** Chrome draws the tab although its window does not display it. */
  | 'drawing'
  /** Chrome reports drags of HTML5 instead of starting them. */
  | 'drags';

/** Command is a command of the DevTools protocol. */
export type Command = readonly [method: string, params: Fields];

/** FeatureCommands apply a feature and take it away. */
export interface FeatureCommands {
  readonly on: Command;
  readonly off: Command;
}

/**
 * featureCommands has the commands of each feature. The screencast makes Chrome draw a background tab; its pictures are
 * tiny and rare, and nothing reads them.
 */
export const featureCommands: Readonly<Record<Feature, FeatureCommands>> = {
  focus: {
    on: ['Emulation.setFocusEmulationEnabled', { enabled: true }],
    off: ['Emulation.setFocusEmulationEnabled', { enabled: false }],
  },
  drawing: {
    on: ['Page.startScreencast', { format: 'jpeg', quality: 1, maxWidth: 16, maxHeight: 16, everyNthFrame: 10_000 }],
    off: ['Page.stopScreencast', {}],
  },
  drags: {
    on: ['Input.setInterceptDrags', { enabled: true }],
    off: ['Input.setInterceptDrags', { enabled: false }],
  },
};
